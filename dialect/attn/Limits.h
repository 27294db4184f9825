//===- Limits.h - The numbers that attention is defined for --- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the table of spec fields and by the passes, so that a spec, a flag
// and a module are held to the same. Without MLIR, for the sake of the first.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_LIMITS_H
#define ATTN_DIALECT_ATTN_LIMITS_H

#include <cmath>
#include <cstdint>

namespace mlir::attn {

/// Head dims are multiples of the first from it to the second; or the pair of
/// multi-head latent attention.
inline constexpr int64_t kHeadDimStep = 8;
inline constexpr int64_t kMaxHeadDim = 256;
inline constexpr int64_t kLatentHeadDimQK = 576;
inline constexpr int64_t kLatentHeadDimVO = 512;

/// Of batch, lengths and head counts.
inline constexpr int64_t kMaxExtent = INT32_MAX;

/// Whether a factor on the scores is finite and greater than 0, also in f32,
/// which kernels take it in.
inline bool isScale(double value) {
  float single = static_cast<float>(value);
  return std::isfinite(single) && single > 0;
}

} // namespace mlir::attn

#endif // ATTN_DIALECT_ATTN_LIMITS_H
