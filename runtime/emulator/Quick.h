//===- Quick.h - Execution without checks -----------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without checks and counters most instructions are a loop over 32 lanes whose
// operands are known when the program is loaded. Those have a QuickInst with a
// function that does nothing else, and straight stretches of them run without a
// look at anything; all other instructions run as they do with checks.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_QUICK_H
#define ATTN_RUNTIME_EMULATOR_QUICK_H

#include "runtime/emulator/Aligned.h"
#include "runtime/emulator/Machine.h"

#include <string_view>

namespace attn::runtime::emulator {

struct QuickInst;

/// Where a warp's values are.
struct QuickState {
  uint8_t *registers;
  uint32_t *predicates;
  const uint8_t *constants;
};

using QuickRun = void (*)(const QuickState &, const QuickInst &, uint32_t mask);

struct QuickInst {
  /// With all 32 lanes on, and with some off; null where the instruction runs
  /// as with checks.
  QuickRun full = nullptr, masked = nullptr;
  /// Byte offsets into the registers or, with the lowest bit set, into the
  /// constants; or a predicate, times 2, the lowest bit set if it is negated.
  uint32_t result = 0, a = 0, b = 0, c = 0;
  /// Of a comparison the second result; of a shuffle the lanes' distance.
  uint32_t extra = 0;
  int32_t guard = -1;
  bool guardNegated = false;
  /// How many instructions from here on run without a look at anything.
  uint32_t stretch = 0;
};

struct QuickProgram {
  std::vector<QuickInst> insts;
  AlignedWords constants;
};

/// The functions for an instruction of this name and the kinds of its operands,
/// in order: r and d, a register of 32 or 64 bits; x and y, the same or a
/// constant; p, a predicate; _, nothing; for others see Quick.cpp.
struct QuickEntry {
  const char *name;
  const char *operands;
  QuickRun full, masked;
};
const QuickEntry *findQuick(std::string_view name);

/// Makes a program ready to run without checks.
void prepareQuick(Program &program);

/// Runs one fragment until it sleeps, ends or has used up the quantum. False
/// after a fault.
bool runQuick(Block &block, Warp &warp, Fragment &fragment, uint32_t quantum);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_QUICK_H
