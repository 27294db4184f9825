//===- Rounding.h - Floating-point formats -------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_ROUNDING_H
#define ATTN_TOOLS_ATTNC_RUN_ROUNDING_H

#include <cstdint>
#include <cstring>

namespace attnc {

/// A binary format with one sign bit, `exponentBits` and `mantissaBits`.
struct FloatFormat {
  int exponentBits, mantissaBits;
};
inline constexpr FloatFormat kF16 = {5, 10};
inline constexpr FloatFormat kBF16 = {8, 7};
inline constexpr FloatFormat kF32 = {8, 23};
inline constexpr FloatFormat kF64 = {11, 52};

/// To 16 bits, to nearest, ties to even, in one step: a double that went
/// through float first could be rounded twice. Overflow gives infinity.
uint16_t encode16(double value, FloatFormat format);
float decode16(uint16_t bits, FloatFormat format);

/// The number of any of the four formats that is nearest to `value`.
double roundTo(double value, FloatFormat format);

/// The distance from `value` to the next number of the format, halved: the
/// most that one rounding can change it.
double halfUlp(double value, FloatFormat format);

/// Rounds the mantissa alone, to what the 16-bit format has: neither overflow
/// nor underflow. A NaN stays one.
inline float roundMantissa(float value, FloatFormat format) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  int dropped = 23 - format.mantissaBits;
  uint32_t odd = (bits >> dropped) & 1;
  uint32_t rounded = bits + ((uint32_t(1) << (dropped - 1)) - 1 + odd);
  rounded &= ~((uint32_t(1) << dropped) - 1);
  float result;
  std::memcpy(&result, &rounded, sizeof result);
  return value == value ? result : value;
}

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_ROUNDING_H
