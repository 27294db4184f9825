//===- Number.cpp - Floating-point formats and roundings ------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Number.h"

using namespace attn::runtime::emulator;

/// Whether the magnitude `kept` must grow by one.
static bool roundsUp(Rounding rounding, bool negative, bool odd,
                     double remainder) {
  switch (rounding) {
  case Rounding::NearestEven:
    return remainder > 0.5 || (remainder == 0.5 && odd);
  case Rounding::NearestAway:
    return remainder >= 0.5;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return negative && remainder > 0;
  case Rounding::Up:
    return !negative && remainder > 0;
  }
  return false;
}

uint32_t attn::runtime::emulator::roundTo(double value, unsigned exponentBits,
                                          unsigned mantissa,
                                          Rounding rounding) {
  uint32_t signBit = 1u << (exponentBits + mantissa);
  uint32_t infinity = ((1u << exponentBits) - 1) << mantissa;
  if (std::isnan(value))
    return signBit - 1;
  bool negative = std::signbit(value);
  uint32_t sign = negative ? signBit : 0;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | infinity;
  if (magnitude == 0)
    return sign;
  int bias = (1 << (exponentBits - 1)) - 1;
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - bias)
    exponent = 1 - bias;
  // The magnitude in units of the last place; exact in a double.
  double scaled = std::ldexp(magnitude, static_cast<int>(mantissa) - exponent);
  double kept = std::floor(scaled);
  uint32_t units = static_cast<uint32_t>(kept);
  if (roundsUp(rounding, negative, units & 1, scaled - kept))
    ++units;
  // A carry out of the mantissa moves into the exponent by itself.
  uint32_t implicit = 1u << mantissa;
  uint32_t bits =
      units < implicit
          ? units
          : (static_cast<uint32_t>(exponent + bias - 1) << mantissa) + units;
  if (bits >= infinity) {
    bool outward = rounding == Rounding::NearestEven ||
                   rounding == Rounding::NearestAway ||
                   rounding == (negative ? Rounding::Down : Rounding::Up);
    bits = outward ? infinity : infinity - 1;
  }
  return sign | bits;
}
