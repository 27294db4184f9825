//===- Number.h - Floating-point formats and roundings ----------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_NUMBER_H
#define ATTN_RUNTIME_EMULATOR_NUMBER_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace attn::runtime::emulator {

enum class Rounding : uint8_t { NearestEven, Zero, Down, Up, NearestAway };

constexpr uint32_t canonicalNan = 0x7fffffff;

inline uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float bitsFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// .ftz: a subnormal becomes a zero of its sign.
inline float flush(float value) {
  uint32_t bits = floatBits(value);
  return (bits & 0x7f800000) ? value : bitsFloat(bits & 0x80000000);
}

inline float bf16ToFloat(uint16_t bits) {
  return bitsFloat(static_cast<uint32_t>(bits) << 16);
}

inline float halfToFloat(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return bitsFloat(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400)
    return bitsFloat(sign | ((magnitude << 13) + (112u << 23)));
  // A subnormal: magnitude times 2^-24, exact in a float.
  float value = static_cast<float>(magnitude) * 0x1p-24f;
  return bitsFloat(sign | floatBits(value));
}

/// Rounds a double to a format of `mantissa` stored bits and `exponent` bits,
/// as PTX's cvt does: NaN becomes the canonical one, overflow infinity or,
/// when rounding away from it, the largest finite value.
uint32_t roundTo(double value, unsigned exponent, unsigned mantissa,
                 Rounding rounding);

inline uint16_t floatToBf16(float value) {
  uint32_t bits = floatBits(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline uint16_t floatToHalf(float value) {
  return static_cast<uint16_t>(
      roundTo(static_cast<double>(value), 5, 10, Rounding::NearestEven));
}

/// a * b + c in double with the last bit set where it is inexact, so that one
/// more rounding to a narrower format is the right one. The product of two
/// 16-bit floats is exact in a double.
inline double fmaToOdd(double a, double b, double c) {
  double product = a * b;
  double sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  double tail = sum - product;
  double error = (product - (sum - tail)) + (c - tail);
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  if (error != 0 && !(bits & 1)) {
    bool outward = (error > 0) == (sum > 0);
    bits = outward ? bits + 1 : bits - 1;
    std::memcpy(&sum, &bits, sizeof bits);
  }
  return sum;
}

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_NUMBER_H
