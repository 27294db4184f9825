//===- Float.cpp - Arithmetic on numbers of every type --------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add, sub, mul, mad, fma, div, min, max and the rest that exist for integers
// and floats alike, and the approximations, which are computed to within a
// last place or two: inside every bound that PTX documents.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Arithmetic.h"

#include <type_traits>

using namespace attn::runtime::emulator;

namespace {

// Floats: what surrounds the operation is the same for all.

float finish(float value, uint32_t flags) {
  if (flags & Ftz)
    value = flush(value);
  if (flags & Saturate)
    value = value != value ? 0.0f : value < 0 ? 0.0f : value > 1 ? 1.0f : value;
  if ((flags & Relu) && value < 0)
    value = 0;
  return value;
}

template <typename Op>
Step floatBinary(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  float result[warpLanes];
  uint32_t flags = inst.flags;
  if (!flags) {
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      result[lane] =
          canonical(Op::apply(bitsFloat(a[lane]), bitsFloat(b[lane])));
  } else {
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      float x = bitsFloat(a[lane]), y = bitsFloat(b[lane]);
      if (flags & Ftz)
        x = flush(x), y = flush(y);
      result[lane] = finish(canonical(Op::apply(x, y)), flags);
      if ((flags & Nan) && (x != x || y != y))
        result[lane] = bitsFloat(canonicalNan);
    }
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

/// std::fma compiles to one instruction here, and to a call elsewhere.
ATTN_MULTIVERSION
void fmaLanes(const uint32_t *a, const uint32_t *b, const uint32_t *c,
              float *result) {
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = canonical(__builtin_fmaf(
        bitsFloat(a[lane]), bitsFloat(b[lane]), bitsFloat(c[lane])));
}

Step floatFma(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  const uint32_t *c = context.source(inst.operands[3]);
  float result[warpLanes];
  if (!inst.flags) {
    fmaLanes(a, b, c, result);
  } else {
    for (unsigned lane = 0; lane < warpLanes; ++lane) {
      float x = bitsFloat(a[lane]), y = bitsFloat(b[lane]),
            z = bitsFloat(c[lane]);
      if (inst.flags & Ftz)
        x = flush(x), y = flush(y), z = flush(z);
      result[lane] = finish(canonical(std::fma(x, y, z)), inst.flags);
    }
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

/// The handler of a two-operand operation for any type.
template <typename Op, typename ShortOp>
Execute pickBinary(Type type) {
  if (type == Type::F32)
    return floatBinary<Op>;
  if (type == Type::F64)
    return binaryOp<double, Op>;
  if (Execute execute = pickShort<ShortOp, 2>(type))
    return execute;
  return integerBinary<Op>(type);
}

void classify(Inst &inst) {
  if (isFloat(inst.type))
    inst.cls = InstClass::Float;
}

/// `.rn` is the default; other roundings have no handler and stay unknown.
/// True if it is there.
bool takeFloatModifiers(Decoder &d, Inst &inst) {
  bool rounds = d.take("rn");
  if (d.take("ftz"))
    inst.flags |= Ftz;
  if (d.take("sat"))
    inst.flags |= Saturate;
  if (d.take("relu"))
    inst.flags |= Relu;
  return rounds;
}

/// Roundings are for floats, .ftz and .sat for floats of 32 bits and f16, and
/// .relu for those of 16 where `mayRelu`.
bool checkModifiers(Decoder &d, const Inst &inst, bool rounds,
                    bool mayRelu = false) {
  Type type = inst.type;
  bool isHalf = type == Type::F16 || type == Type::F16x2;
  bool isBrain = type == Type::BF16 || type == Type::BF16x2;
  uint32_t allowed = type == Type::F32 ? Ftz | Saturate
                     : isHalf          ? Ftz | Saturate
                                       : 0;
  if (mayRelu && (isHalf || isBrain))
    allowed |= Relu;
  if ((inst.flags & ~(allowed | Nan)) || (rounds && !isFloat(type)))
    return d.fail("floating-point modifier on type '." +
                  std::string(typeName(type)) + "'");
  return true;
}

/// Arithmetic knows integers and floats, but no bits.
bool needNumber(Decoder &d, Inst &inst) {
  std::string name(d.peek());
  if (!d.needType(inst.type))
    return false;
  return (!isBits(inst.type) && inst.type != Type::Pred) ||
         d.fail("unsupported type '." + name + "' of " + quote(d.ast().opcode));
}

bool sources(Decoder &d, Type type, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (!d.source(type))
      return false;
  return true;
}

template <typename Op, typename ShortOp>
bool decodeBinary(Decoder &d, Inst &inst) {
  bool rounds = takeFloatModifiers(d, inst);
  if (!needNumber(d, inst) || !checkModifiers(d, inst, rounds))
    return false;
  classify(inst);
  return setExecute(d, inst, pickBinary<Op, ShortOp>(inst.type)) &&
         d.destination(inst.type) && sources(d, inst.type, 2);
}

/// `.relu` of integers, which only .s32 has.
template <typename Op>
struct IntegerRelu {
  static int32_t apply(int32_t a, int32_t b) {
    return std::max(Op::apply(a, b), 0);
  }
};

template <typename Op, typename ShortOp>
bool decodeMinMax(Decoder &d, Inst &inst) {
  if (d.take("ftz"))
    inst.flags |= Ftz;
  if (d.take("NaN"))
    inst.flags |= Nan;
  if (d.take("relu")) {
    if (d.peek() != "s32")
      inst.flags |= Relu;
    else
      return d.needType(inst.type) &&
             setExecute(d, inst, binaryOp<int32_t, IntegerRelu<Op>>) &&
             d.destination(inst.type) && sources(d, inst.type, 2);
  }
  if (!needNumber(d, inst))
    return false;
  bool isRelu = inst.flags & Relu;
  inst.flags &= ~uint32_t(Relu);
  if (!checkModifiers(d, inst, false))
    return false;
  // .relu of floats is not for min and max.
  if (isRelu || ((isRelu || (inst.flags & Nan)) && !isFloat(inst.type)))
    return d.fail("floating-point modifier on type '." +
                  std::string(typeName(inst.type)) + "'");
  if (isRelu)
    inst.flags |= Relu;
  classify(inst);
  return setExecute(d, inst, pickBinary<Op, ShortOp>(inst.type)) &&
         d.destination(inst.type) && sources(d, inst.type, 2);
}

// Multiplication: low, high or wide for integers.

template <typename T, typename Wide, bool accumulate>
Step mulWide(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  Wide result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint64_t product = static_cast<uint64_t>(laneGet<T>(a, lane)) *
                       static_cast<uint64_t>(laneGet<T>(b, lane));
    if (accumulate)
      product += static_cast<uint64_t>(
          laneGet<Wide>(context.source(inst.operands[3]), lane));
    result[lane] = static_cast<Wide>(product);
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

template <bool accumulate>
Execute pickWide(Type type, Type &wide) {
  switch (type) {
  case Type::U16:
    wide = Type::U32;
    return mulWide<uint16_t, uint32_t, accumulate>;
  case Type::S16:
    wide = Type::S32;
    return mulWide<int16_t, int32_t, accumulate>;
  case Type::U32:
    wide = Type::U64;
    return mulWide<uint32_t, uint64_t, accumulate>;
  case Type::S32:
    wide = Type::S64;
    return mulWide<int32_t, int64_t, accumulate>;
  default:
    return nullptr;
  }
}

template <typename First>
struct ThenAdd {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(First::apply(a, b), c);
  }
};

template <typename Op>
Execute integerTernary(Type type) {
  switch (type) {
  case Type::U16:
    return ternaryOp<uint16_t, Op>;
  case Type::S16:
    return ternaryOp<int16_t, Op>;
  case Type::U32:
    return ternaryOp<uint32_t, Op>;
  case Type::S32:
    return ternaryOp<int32_t, Op>;
  case Type::U64:
    return ternaryOp<uint64_t, Op>;
  case Type::S64:
    return ternaryOp<int64_t, Op>;
  default:
    return nullptr;
  }
}

bool decodeMul(Decoder &d, Inst &inst) {
  int half = d.takeOneOf({"lo", "hi", "wide"});
  if (half < 0 && !decodeBinary<Mul, ShortMul>(d, inst))
    return false;
  if (half < 0)
    return isFloat(inst.type) ||
           d.fail("expected '.lo', '.hi' or '.wide' in 'mul'");
  if (!needNumber(d, inst))
    return false;
  Type result = inst.type;
  Execute execute = half == 0   ? integerBinary<Mul>(inst.type)
                    : half == 1 ? integerBinary<MulHigh>(inst.type)
                                : pickWide<false>(inst.type, result);
  return setExecute(d, inst, execute) && d.destination(result) &&
         sources(d, inst.type, 2);
}

struct DoubleFma {
  static double apply(double a, double b, double c) {
    return std::fma(a, b, c);
  }
};

bool decodeFma(Decoder &d, Inst &inst) {
  bool rounds = takeFloatModifiers(d, inst);
  if (!needNumber(d, inst) || !checkModifiers(d, inst, rounds, true))
    return false;
  if (!rounds)
    return d.fail("expected '.rn' in " + quote(d.ast().opcode));
  classify(inst);
  Execute execute = inst.type == Type::F32 ? floatFma
                    : inst.type == Type::F64
                        ? ternaryOp<double, DoubleFma>
                        : pickShort<ShortFma, 3>(inst.type);
  return setExecute(d, inst, execute) && d.destination(inst.type) &&
         sources(d, inst.type, 3);
}

bool decodeMad(Decoder &d, Inst &inst) {
  int half = d.takeOneOf({"lo", "hi", "wide"});
  if (half < 0)
    return decodeFma(d, inst);
  if (!needNumber(d, inst))
    return false;
  Type result = inst.type;
  Execute execute = half == 0   ? integerTernary<ThenAdd<Mul>>(inst.type)
                    : half == 1 ? integerTernary<ThenAdd<MulHigh>>(inst.type)
                                : pickWide<true>(inst.type, result);
  return setExecute(d, inst, execute) && d.destination(result) &&
         sources(d, inst.type, 2) && d.source(result);
}

bool decodeDiv(Decoder &d, Inst &inst) {
  bool approximate = d.takeOneOf({"approx", "full"}) >= 0;
  bool rounds = takeFloatModifiers(d, inst);
  if (!needNumber(d, inst) || !checkModifiers(d, inst, rounds))
    return false;
  if ((inst.flags & Saturate) || (isFloat(inst.type) && approximate == rounds))
    return d.fail("expected '.rn', '.approx' or '.full' in 'div', and no "
                  "'.sat'");
  classify(inst);
  Execute execute = inst.type == Type::F32   ? floatBinary<Div>
                    : inst.type == Type::F64 ? binaryOp<double, Div>
                                             : integerBinary<Div>(inst.type);
  if (approximate && inst.type != Type::F32)
    execute = nullptr;
  return setExecute(d, inst, execute) && d.destination(inst.type) &&
         sources(d, inst.type, 2);
}

bool decodeRem(Decoder &d, Inst &inst) {
  if (!needNumber(d, inst))
    return false;
  Execute execute = nullptr;
  if (!isFloat(inst.type))
    execute = integerBinary<Rem>(inst.type);
  return setExecute(d, inst, execute) && d.destination(inst.type) &&
         sources(d, inst.type, 2);
}

// One operand.

struct Ex2 {
  static float apply(float a) { return exp2Float(a); }
  static double apply(double a) { return std::exp2(a); }
};

/// The most frequent of them, for newer vector units too.
ATTN_MULTIVERSION
void exp2Lanes(const float *a, float *result) {
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = exp2Float(a[lane]);
}

template <typename Op>
Step floatUnary(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  float result[warpLanes], x[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    x[lane] = bitsFloat(a[lane]);
  if (inst.flags & Ftz)
    for (float &value : x)
      value = flush(value);
  if constexpr (std::is_same_v<Op, Ex2>)
    exp2Lanes(x, result);
  else
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      result[lane] = Op::apply(x[lane]);
  if (inst.flags)
    for (float &value : result)
      value = finish(value, inst.flags);
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

template <typename Op, typename ShortOp>
bool decodeUnary(Decoder &d, Inst &inst) {
  if (d.take("ftz"))
    inst.flags |= Ftz;
  if (!needNumber(d, inst) || !checkModifiers(d, inst, false))
    return false;
  if (!isFloat(inst.type) && !isSigned(inst.type))
    return d.fail("unsupported type '." + std::string(typeName(inst.type)) +
                  "' of " + quote(d.ast().opcode));
  classify(inst);
  Execute execute = inst.type == Type::F32   ? floatUnary<Op>
                    : inst.type == Type::F64 ? unaryOp<double, Op>
                                             : pickShort<ShortOp, 1>(inst.type);
  if (!execute)
    execute = integerUnary<Op>(inst.type);
  return setExecute(d, inst, execute) && d.destination(inst.type) &&
         d.source(inst.type);
}

#define ATTN_UNARY(Name, expression)                                           \
  struct Name {                                                                \
    template <typename T>                                                      \
    static T apply(T a) {                                                      \
      return expression;                                                       \
    }                                                                          \
  };
ATTN_UNARY(Lg2, std::log2(a))
ATTN_UNARY(Rcp, T(1) / a)
ATTN_UNARY(Sqrt, std::sqrt(a))
ATTN_UNARY(Rsqrt, T(1) / std::sqrt(a))
ATTN_UNARY(Sin, std::sin(a))
ATTN_UNARY(Cos, std::cos(a))
ATTN_UNARY(Tanh, std::tanh(a))
#undef ATTN_UNARY

/// ex2.approx, rcp.rn and so on. Without .ftz some still flush in hardware;
/// that is within their documented error.
template <typename Op, bool rounded>
bool decodeApproximation(Decoder &d, Inst &inst) {
  bool approximate = d.take("approx");
  if (!approximate && !(rounded && d.take("rn")))
    return d.fail("expected '.approx'" +
                  std::string(rounded ? " or '.rn'" : "") + " in '" +
                  std::string(d.ast().opcode) + "'");
  if (d.take("ftz"))
    inst.flags |= Ftz;
  if (!d.needType(inst.type))
    return false;
  Type type = inst.type;
  bool isBrain = type == Type::BF16 || type == Type::BF16x2;
  bool needsFtz = (type == Type::F64 && approximate) ||
                  (isBrain && std::is_same_v<Op, Ex2>);
  bool mayFtz =
      needsFtz ||
      (!std::is_same_v<Op, Tanh> &&
       (type == Type::F32 || (type == Type::F64 && std::is_same_v<Op, Rcp>)));
  bool isDoubleRoot =
      type == Type::F64 && approximate && std::is_same_v<Op, Sqrt>;
  if (isDoubleRoot || ((inst.flags & Ftz) ? !mayFtz : needsFtz))
    return d.fail("unsupported modifiers of " + quote(d.ast().opcode) +
                  " with type '." + typeName(type) + "'");
  Execute execute = nullptr;
  if (inst.type == Type::F32)
    execute = floatUnary<Op>;
  else if (inst.type == Type::F64 && rounded)
    execute = unaryOp<double, Op>;
  else if (std::is_same_v<Op, Ex2>)
    execute = pickShort<ShortEx2, 1>(inst.type);
  else if (std::is_same_v<Op, Tanh>)
    execute = pickShort<ShortTanh, 1>(inst.type);
  return setExecute(d, inst, execute) && d.destination(inst.type) &&
         d.source(inst.type);
}

/// The sign of a on the magnitude of b.
struct Copysign {
  template <typename T>
  static T apply(T a, T b) {
    return std::copysign(b, a);
  }
};

bool decodeCopysign(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::F32, Type::F64}))
    return false;
  inst.execute = inst.type == Type::F32 ? binaryOp<float, Copysign>
                                        : binaryOp<double, Copysign>;
  return d.destination(inst.type) && sources(d, inst.type, 2);
}

constexpr Opcode table[] = {
    {"add", InstClass::Integer, decodeBinary<Add, ShortAdd>},
    {"sub", InstClass::Integer, decodeBinary<Sub, ShortSub>},
    {"mul", InstClass::Integer, decodeMul},
    {"mad", InstClass::Integer, decodeMad},
    {"fma", InstClass::Float, decodeFma},
    {"div", InstClass::Integer, decodeDiv},
    {"rem", InstClass::Integer, decodeRem},
    {"min", InstClass::Integer, decodeMinMax<Min, ShortMin>},
    {"max", InstClass::Integer, decodeMinMax<Max, ShortMax>},
    {"neg", InstClass::Integer, decodeUnary<Neg, ShortNeg>},
    {"abs", InstClass::Integer, decodeUnary<Abs, ShortAbs>},
    {"copysign", InstClass::Float, decodeCopysign},
    {"ex2", InstClass::SpecialFunction, decodeApproximation<Ex2, false>},
    {"lg2", InstClass::SpecialFunction, decodeApproximation<Lg2, false>},
    {"rcp", InstClass::SpecialFunction, decodeApproximation<Rcp, true>},
    {"sqrt", InstClass::SpecialFunction, decodeApproximation<Sqrt, true>},
    {"rsqrt", InstClass::SpecialFunction, decodeApproximation<Rsqrt, false>},
    {"sin", InstClass::SpecialFunction, decodeApproximation<Sin, false>},
    {"cos", InstClass::SpecialFunction, decodeApproximation<Cos, false>},
    {"tanh", InstClass::SpecialFunction, decodeApproximation<Tanh, false>},
};

} // namespace

OpcodeTable attn::runtime::emulator::floatOpcodes() { return makeTable(table); }
