//===- Emulator.h - A device that executes PTX text -------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device of a machine without a GPU, and a checker on any machine. See
// README.md beside this file.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_EMULATOR_H
#define ATTN_RUNTIME_EMULATOR_EMULATOR_H

#include "runtime/Device.h"
#include "runtime/emulator/Statistics.h"

#include <memory>

namespace attn::runtime {

struct EmulatorOptions {
  /// Races, never-written reads, registers in flight and the rest of
  /// README.md. Without it only what would harm the host is checked: bounds.
  bool checks = true;
  /// Statistics. Checks always count; without either it runs several times as
  /// fast.
  bool counts = true;
  /// 0 runs warps and blocks in a fixed order; any other value in a random
  /// one, the same for the same seed.
  uint64_t seed = 0;
  /// What the device says of itself, and what limits the resident blocks.
  int multiprocessors = 132;
  /// Reported before a module is loaded; a module's PTX target decides what
  /// its kernels may use.
  int major = 9, minor = 0;
  /// A launch that executes more warp instructions than this is given up; 0
  /// means no limit. For fuzzing and tests.
  uint64_t maxInstructions = 0;
};

class EmulatorDevice : public Device {
public:
  /// Counted since the last reset.
  virtual const emulator::Statistics &statistics() const = 0;
  virtual void resetStatistics() = 0;
};

std::unique_ptr<EmulatorDevice>
createEmulator(const EmulatorOptions &options = {});

} // namespace attn::runtime

#endif // ATTN_RUNTIME_EMULATOR_EMULATOR_H
