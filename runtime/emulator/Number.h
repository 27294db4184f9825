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

/// What arithmetic makes of a NaN, whichever operand it came from.
inline float canonical(float value) {
  return value != value ? bitsFloat(canonicalNan) : value;
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

/// 2^x: the series of exp(r ln 2) in double, for |r| <= 1/2, which is off by
/// less than 2^-37 before it is rounded. Vector.h has the same for many lanes;
/// libm's own may differ from machine to machine in the last bit.
constexpr unsigned exp2Degree = 9;
constexpr double exp2Terms[exp2Degree + 1] = {0x1p+0,
                                              0x1.62e42fefa39efp-1,
                                              0x1.ebfbdff82c58ep-3,
                                              0x1.c6b08d704a0bfp-5,
                                              0x1.3b2ab6fba4e77p-7,
                                              0x1.5d87fe78a6730p-10,
                                              0x1.430912f86c786p-13,
                                              0x1.ffcbfc588b0c5p-17,
                                              0x1.62c0223a5c822p-20,
                                              0x1.b5253d395e7c1p-24};

inline float exp2Float(float value) {
  double x = static_cast<double>(value);
  x = x > 1000 ? 1000 : x;
  x = x < -1000 ? -1000 : x;
  // Adding this rounds to an integer, which its lowest bits then hold.
  double shifted = x + 0x1.8p52;
  double r = x - (shifted - 0x1.8p52);
  double sum = exp2Terms[exp2Degree];
  for (unsigned i = exp2Degree; i-- > 0;)
    sum = sum * r + exp2Terms[i];
  uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  double scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return static_cast<float>(sum * scale);
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
