//===- WgmmaTiles.h - wgmma as a blocked product ----------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For runs without checks; mma.m16n8k16 is the same for one warp and 8 columns.
// The operands become floats in an order that a block of accumulators can read:
// lane l of a warp has the row l / 4 and the columns 2 (l % 4) and the next, so
// a column pair is 4 values that all rows share.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_WGMMATILES_H
#define ATTN_RUNTIME_EMULATOR_WGMMATILES_H

#include "runtime/emulator/Descriptor.h"
#include "runtime/emulator/Types.h"

namespace attn::runtime::emulator {

class WgmmaTiles {
public:
  /// The shared memory that descriptors refer to: bytes `begin` to `end`.
  struct Shared {
    const uint8_t *bytes;
    uint32_t begin, end;
  };

  /// A warp's four A registers.
  void readA(unsigned warp, const uint32_t *const (&registers)[4], Type type,
             float scale);
  /// From shared memory; false if something is out of bounds.
  bool readA(const Shared &shared, const MatrixDescriptor &descriptor,
             bool transposed, Type type, float scale);
  bool readB(const Shared &shared, const MatrixDescriptor &descriptor,
             unsigned n, bool transposed, Type type, float scale);

  /// The two B registers of an mma.m16n8k16.
  void readB(const uint32_t *const (&registers)[2], Type type);

  /// Adds a warp's part of the product to its n / 2 accumulators, or sets them.
  void multiply(unsigned warp, unsigned n, uint32_t *const *accumulators,
                bool accumulate) const;

private:
  static constexpr unsigned depth = 16, lanes = 32, most = 256;

  // By warp, upper or lower 8 rows, k; by 8 columns, even or odd ones, k % 4,
  // k / 4.
  alignas(64) float a_[4][2][depth][lanes];
  alignas(64) float b_[most / 8][2][4][4][4];
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_WGMMATILES_H
