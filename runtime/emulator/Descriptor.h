//===- Descriptor.h - wgmma's view of shared memory -------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix descriptor has, from bit 0: the start address / 16 (14 bits), at 16
// the leading and at 32 the stride byte offset / 16 (14 bits each), at 49 the
// base offset (3 bits), at 62 the swizzle (0 none, 1 128, 2 64, 3 32 bytes).
//
// With W bytes of swizzle a row of the pattern has W bytes and 8 rows make a
// group. In an operand that is contiguous along K, rows are those of M or N
// and SBO separates groups of 8; K lies within the row. In one that is
// contiguous along M or N, rows are those of K: SBO separates groups of 8 of
// them, and LBO the panels of W bytes along M or N. Without a swizzle the unit
// is a core matrix of 8 rows of 16 bytes, SBO steps along M or N and LBO along
// K for both.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_DESCRIPTOR_H
#define ATTN_RUNTIME_EMULATOR_DESCRIPTOR_H

#include "runtime/emulator/TensorMap.h"

namespace attn::runtime::emulator {

struct MatrixDescriptor {
  uint32_t start = 0;
  uint32_t leading = 0;
  uint32_t stride = 0;
  uint32_t baseOffset = 0;
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;

  explicit MatrixDescriptor(uint64_t bits)
      : start(static_cast<uint32_t>(bits & 0x3fff) << 4),
        leading(static_cast<uint32_t>(bits >> 16 & 0x3fff) << 4),
        stride(static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4),
        baseOffset(static_cast<uint32_t>(bits >> 49 & 7)) {
    static constexpr TensorMapSwizzle modes[] = {
        TensorMapSwizzle::None, TensorMapSwizzle::B128, TensorMapSwizzle::B64,
        TensorMapSwizzle::B32};
    swizzle = modes[bits >> 62];
  }

  uint32_t width() const {
    static constexpr uint32_t widths[] = {0, 32, 64, 128};
    return widths[uint32_t(swizzle)];
  }

  /// The shared address of 16 bytes: along K the chunk `k` of row `mn`, or
  /// with `transposed` the chunk `mn` (in 16 bytes) of row `k`.
  uint32_t chunkAddress(uint32_t mn, uint32_t k, bool transposed) const {
    uint32_t w = width();
    uint32_t linear;
    if (!w)
      linear = transposed ? mn * stride + k / 8 * leading + k % 8 * 16
                          : mn / 8 * stride + k * leading + mn % 8 * 16;
    else if (transposed)
      linear = mn * 16 / w * leading + k / 8 * stride + k % 8 * w + mn * 16 % w;
    else
      linear = mn / 8 * stride + mn % 8 * w + k * 16;
    return static_cast<uint32_t>(swizzleAddress(start + linear, swizzle));
  }
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_DESCRIPTOR_H
