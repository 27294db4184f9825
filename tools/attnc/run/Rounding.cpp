//===- Rounding.cpp - Floating-point formats ------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnc {

uint16_t encode16(double value, FloatFormat format) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  uint16_t sign = static_cast<uint16_t>(bits >> 63 << 15);
  uint16_t infinity = static_cast<uint16_t>(((1 << format.exponentBits) - 1)
                                            << format.mantissaBits);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 1024) // infinity or NaN
    return sign | infinity | (mantissa ? 1 << (format.mantissaBits - 1) : 0);
  if (exponent == -1023)
    return sign; // far below the smallest subnormal of any 16-bit format
  mantissa |= uint64_t(1) << 52;
  int bias = (1 << (format.exponentBits - 1)) - 1;
  // How many bits go; more where the result is subnormal.
  int dropped = 52 - format.mantissaBits + std::max(0, 1 - bias - exponent);
  if (dropped > 54)
    return sign;
  uint64_t half = uint64_t(1) << (dropped - 1);
  uint64_t odd = mantissa >> dropped & 1;
  uint64_t kept = (mantissa + half - 1 + odd) >> dropped;
  // A carry out of the mantissa moves on into the exponent, as it should.
  int base = std::max(exponent + bias, 1);
  uint64_t result = (uint64_t(base - 1) << format.mantissaBits) + kept;
  return sign | static_cast<uint16_t>(std::min<uint64_t>(result, infinity));
}

float decode16(uint16_t bits, FloatFormat format) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  if (format.exponentBits == 8) {
    uint32_t wide = uint32_t(bits) << 16;
    float result;
    std::memcpy(&result, &wide, sizeof result);
    return result;
  }
  uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  float magnitude;
  if (exponent == 0x1f)
    magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN()
                         : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  else {
    uint32_t wide = (exponent + 127 - 15) << 23 | mantissa << 13;
    std::memcpy(&magnitude, &wide, sizeof magnitude);
  }
  return sign ? -magnitude : magnitude;
}

double roundTo(double value, FloatFormat format) {
  if (format.mantissaBits == kF64.mantissaBits)
    return value;
  if (format.mantissaBits == kF32.mantissaBits)
    return static_cast<float>(value);
  return decode16(encode16(value, format), format);
}

double halfUlp(double value, FloatFormat format) {
  int bias = (1 << (format.exponentBits - 1)) - 1;
  int exponent = 1 - bias;
  if (value != 0 && std::isfinite(value))
    exponent = std::max(exponent, std::ilogb(value));
  return std::ldexp(1.0, exponent - format.mantissaBits - 1);
}

} // namespace attnc
