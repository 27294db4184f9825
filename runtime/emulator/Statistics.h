//===- Statistics.h - What the emulator counts ------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_STATISTICS_H
#define ATTN_RUNTIME_EMULATOR_STATISTICS_H

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace attn::runtime::emulator {

enum class InstClass : uint8_t {
  Integer,
  Float,
  /// ex2, lg2, rcp, rsqrt, sqrt, tanh, sin, cos.
  SpecialFunction,
  Convert,
  Move,
  Control,
  LoadStore,
  Atomic,
  Shuffle,
  Barrier,
  AsyncCopy,
  Matrix,
  MatrixLoad,
  Other,
  Count,
};

const char *instClassName(InstClass cls);

/// Of one memory, or of one allocation of global memory.
struct Traffic {
  /// Bytes that instructions asked for.
  uint64_t readBytes = 0;
  uint64_t writtenBytes = 0;
  /// Bytes in the 32-byte sectors that those touched, instruction by
  /// instruction: what moves between L2 and an SM.
  uint64_t readSectorBytes = 0;
  uint64_t writtenSectorBytes = 0;
};

/// Passes over the 32 banks of shared memory that accesses took, and how many
/// of these an access free of conflicts would not have needed.
struct BankTraffic {
  uint64_t wavefronts = 0;
  uint64_t conflicts = 0;

  BankTraffic &operator+=(const BankTraffic &other) {
    wavefronts += other.wavefronts;
    conflicts += other.conflicts;
    return *this;
  }
};

struct Statistics {
  uint64_t launches = 0;
  uint64_t blocks = 0;
  /// Warp instructions.
  uint64_t instructions = 0;
  std::array<uint64_t, size_t(InstClass::Count)> byClass{};
  Traffic global, shared, local;
  /// Global traffic by the base address of the allocation.
  std::map<uint64_t, Traffic> allocations;
  /// Of ld, st, ldmatrix, stmatrix, cp.async and atomics; not of TMA and wgmma,
  /// whose order is not documented.
  BankTraffic banks;
  std::array<BankTraffic, size_t(InstClass::Count)> banksByClass{};
  /// By kernel and line of the PTX.
  std::map<std::string, std::map<uint32_t, BankTraffic>> banksByLine;
  /// Times that a warp had to sleep.
  uint64_t namedBarrierWaits = 0;
  uint64_t mbarrierWaits = 0;
  uint64_t registerWaits = 0;
  /// Multiply-adds of wgmma and mma.
  uint64_t matrixMultiplyAdds = 0;
  uint64_t divergentBranches = 0;

  /// One JSON object, the names as above.
  std::string json() const;
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_STATISTICS_H
