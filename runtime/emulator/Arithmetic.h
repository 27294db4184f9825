//===- Arithmetic.h - Operations on one number ------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Float.cpp does to each lane: operations on numbers of any type, and
// those on 16-bit floats, which are computed in double.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_ARITHMETIC_H
#define ATTN_RUNTIME_EMULATOR_ARITHMETIC_H

#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Number.h"

#include <limits>
#include <type_traits>

namespace attn::runtime::emulator {

/// Inst::flags of this family.
enum : uint32_t { Ftz = 1, Saturate = 2, Relu = 4, Nan = 8, Approximate = 16 };

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

// Integers wrap.

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
  }
};
struct Sub {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a - b;
    else
      return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
  }
};
struct Mul {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return static_cast<T>(uint64_t(a) * uint64_t(b));
  }
};
struct MulHigh {
  template <typename T>
  static T apply(T a, T b) {
    __int128 wide = static_cast<__int128>(a) * static_cast<__int128>(b);
    if (std::is_unsigned_v<T>) {
      auto product =
          static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b);
      return static_cast<T>(product >> (8 * sizeof(T)));
    }
    return static_cast<T>(wide >> (8 * sizeof(T)));
  }
};
/// Division by zero gives all ones, the remainder the dividend, as hardware.
struct Div {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0)
        return static_cast<T>(-1);
      if (std::is_signed_v<T> && b == static_cast<T>(-1))
        return static_cast<T>(0 - Unsigned<T>(a));
      return static_cast<T>(a / b);
    }
  }
};
struct Rem {
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return 0;
    return static_cast<T>(a % b);
  }
};
/// Of a NaN and a number the number; -0 is less than +0.
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a)
        return b;
      if (b != b)
        return a;
      if (a == b)
        return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a)
        return b;
      if (b != b)
        return a;
      if (a == b)
        return std::signbit(a) ? b : a;
    }
    return a > b ? a : b;
  }
};
struct Neg {
  template <typename T>
  static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return static_cast<T>(0 - Unsigned<T>(a));
  }
};
struct Abs {
  template <typename T>
  static T apply(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else
      return a < 0 ? static_cast<T>(0 - Unsigned<T>(a)) : a;
  }
};

// 16-bit floats, one or two to a register.

struct HalfFormat {
  static constexpr unsigned exponent = 5, mantissa = 10;
  static double load(uint32_t bits) {
    return halfToFloat(static_cast<uint16_t>(bits));
  }
};
struct Bf16Format {
  static constexpr unsigned exponent = 8, mantissa = 7;
  static double load(uint32_t bits) {
    return bf16ToFloat(static_cast<uint16_t>(bits));
  }
};

/// A double holds sums and products of two 16-bit floats exactly or, for
/// sums of very different sizes, rounded to odd by fmaToOdd.
struct ShortAdd {
  static double apply(double a, double b, double) { return fmaToOdd(a, 1, b); }
};
struct ShortSub {
  static double apply(double a, double b, double) { return fmaToOdd(a, 1, -b); }
};
struct ShortMul {
  static double apply(double a, double b, double) { return a * b; }
};
struct ShortFma {
  static double apply(double a, double b, double c) {
    return fmaToOdd(a, b, c);
  }
};
struct ShortMin {
  static double apply(double a, double b, double) { return Min::apply(a, b); }
};
struct ShortMax {
  static double apply(double a, double b, double) { return Max::apply(a, b); }
};
struct ShortNeg {
  static double apply(double a, double, double) { return -a; }
};
struct ShortAbs {
  static double apply(double a, double, double) { return std::fabs(a); }
};
struct ShortEx2 {
  static double apply(double a, double, double) { return std::exp2(a); }
};
struct ShortTanh {
  static double apply(double a, double, double) { return std::tanh(a); }
};

template <typename Format, typename Op, unsigned operands, unsigned parts>
Step shortFloat(Context &context, const Inst &inst) {
  const uint32_t *in[3] = {nullptr, nullptr, nullptr};
  for (unsigned i = 0; i < operands; ++i)
    in[i] = context.source(inst.operands[1 + i]);
  uint32_t result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint32_t packed = 0;
    for (unsigned part = 0; part < parts; ++part) {
      double x[3] = {0, 0, 0};
      bool anyNan = false;
      for (unsigned i = 0; i < operands; ++i) {
        x[i] = Format::load(in[i][lane] >> (16 * part));
        anyNan |= x[i] != x[i];
      }
      double value = Op::apply(x[0], x[1], x[2]);
      if ((inst.flags & Nan) && anyNan)
        value = std::numeric_limits<double>::quiet_NaN();
      if (inst.flags & Saturate)
        value = value != value ? 0 : value < 0 ? 0 : value > 1 ? 1 : value;
      if ((inst.flags & Relu) && value < 0)
        value = 0;
      packed |= roundTo(value, Format::exponent, Format::mantissa,
                        Rounding::NearestEven)
                << (16 * part);
    }
    result[lane] = packed;
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

template <typename Op, unsigned operands>
Execute pickShort(Type type) {
  switch (type) {
  case Type::F16:
    return shortFloat<HalfFormat, Op, operands, 1>;
  case Type::F16x2:
    return shortFloat<HalfFormat, Op, operands, 2>;
  case Type::BF16:
    return shortFloat<Bf16Format, Op, operands, 1>;
  case Type::BF16x2:
    return shortFloat<Bf16Format, Op, operands, 2>;
  default:
    return nullptr;
  }
}

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_ARITHMETIC_H
