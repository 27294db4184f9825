//===- Convert.cpp - Conversions between types ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Number.h"

#include <limits>

using namespace attn::runtime::emulator;

namespace {

// Conversions. Inst::immediate is the rounding, type the result's type and
// type2 the operand's.

enum : uint32_t { CvtFtz = 1, CvtSat = 2, CvtRelu = 4, ToInteger = 8 };

double loadFloat(Type type, const uint32_t *lanes, unsigned lane) {
  switch (type) {
  case Type::F16:
    return halfToFloat(static_cast<uint16_t>(lanes[lane]));
  case Type::BF16:
    return bf16ToFloat(static_cast<uint16_t>(lanes[lane]));
  case Type::F64:
    return laneGet<double>(lanes, lane);
  default:
    return bitsFloat(lanes[lane]);
  }
}

int64_t loadInteger(Type type, const uint32_t *lanes, unsigned lane) {
  switch (type) {
  case Type::S8:
    return laneGet<int8_t>(lanes, lane);
  case Type::U8:
  case Type::B8:
    return laneGet<uint8_t>(lanes, lane);
  case Type::S16:
    return laneGet<int16_t>(lanes, lane);
  case Type::U16:
  case Type::B16:
    return laneGet<uint16_t>(lanes, lane);
  case Type::S32:
    return laneGet<int32_t>(lanes, lane);
  case Type::S64:
  case Type::U64:
  case Type::B64:
    return laneGet<int64_t>(lanes, lane);
  default:
    return laneGet<uint32_t>(lanes, lane);
  }
}

/// Bits of `value` in a float type narrower than double, or double itself.
uint64_t storeFloat(Type type, double value, Rounding rounding) {
  switch (type) {
  case Type::F16:
    return roundTo(value, 5, 10, rounding);
  case Type::BF16:
    return roundTo(value, 8, 7, rounding);
  case Type::TF32:
    return uint64_t(roundTo(value, 8, 10, rounding)) << 13;
  case Type::F64:
    return bitCast<uint64_t>(value);
  default:
    if (rounding == Rounding::NearestEven)
      return floatBits(static_cast<float>(value));
    return roundTo(value, 8, 23, rounding);
  }
}

double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return std::nearbyint(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestAway:
    return std::round(value);
  }
  return value;
}

/// Out of range saturates, NaN is 0, as in hardware.
uint64_t floatToInteger(double value, Type type) {
  if (std::isnan(value))
    return 0;
  unsigned bits = 8 * typeBytes(type);
  if (isSigned(type)) {
    double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    if (value >= limit)
      return (uint64_t(1) << (bits - 1)) - 1;
    if (value < -limit)
      return uint64_t(1) << (bits - 1);
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  if (value <= 0)
    return 0;
  if (value >= std::ldexp(1.0, static_cast<int>(bits)))
    return bits == 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
  return static_cast<uint64_t>(value);
}

int64_t clampInteger(int64_t value, Type from, Type to) {
  unsigned bits = 8 * typeBytes(to);
  bool hugeUnsigned = from == Type::U64 && value < 0;
  if (isSigned(to)) {
    int64_t top = static_cast<int64_t>((uint64_t(1) << (bits - 1)) - 1);
    if (hugeUnsigned)
      return top;
    return std::min(std::max(value, -top - 1), top);
  }
  if (!hugeUnsigned && value < 0)
    return 0;
  uint64_t top = bits == 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
  return static_cast<int64_t>(std::min(static_cast<uint64_t>(value), top));
}

uint64_t convertLane(const Inst &inst, const uint32_t *a, unsigned lane) {
  Rounding rounding = static_cast<Rounding>(inst.immediate);
  if (!isFloat(inst.type2)) {
    int64_t value = loadInteger(inst.type2, a, lane);
    if (!isFloat(inst.type)) {
      if (inst.flags & CvtSat)
        value = clampInteger(value, inst.type2, inst.type);
      return static_cast<uint64_t>(value);
    }
    bool isUnsigned64 = inst.type2 == Type::U64;
    // Straight to float: by way of double it would round twice.
    if (inst.type == Type::F32 && rounding == Rounding::NearestEven)
      return floatBits(isUnsigned64
                           ? static_cast<float>(static_cast<uint64_t>(value))
                           : static_cast<float>(value));
    return storeFloat(inst.type,
                      isUnsigned64
                          ? static_cast<double>(static_cast<uint64_t>(value))
                          : static_cast<double>(value),
                      rounding);
  }
  double value = loadFloat(inst.type2, a, lane);
  if ((inst.flags & CvtFtz) && inst.type2 == Type::F32)
    value = static_cast<double>(flush(static_cast<float>(value)));
  if (inst.flags & ToInteger)
    value = roundToInteger(value, rounding);
  if (!isFloat(inst.type))
    return floatToInteger(value, inst.type);
  if (inst.flags & CvtSat)
    value = value != value ? 0 : value < 0 ? 0 : value > 1 ? 1 : value;
  if ((inst.flags & CvtRelu) && value < 0)
    value = 0;
  uint64_t bits =
      storeFloat(inst.type, value,
                 inst.flags & ToInteger ? Rounding::NearestEven : rounding);
  if ((inst.flags & CvtFtz) && inst.type == Type::F32)
    bits = floatBits(flush(bitsFloat(static_cast<uint32_t>(bits))));
  return bits;
}

/// Writes the low bits of a result to a register of 16, 32 or 64 bits, which
/// may be wider than the type: then signed types extend their sign.
void storeConverted(Context &context, const Inst &inst,
                    const uint64_t (&values)[warpLanes]) {
  const Operand &target = inst.operands[0];
  if (target.bytes == 8) {
    storeLanes(context, target, values);
    return;
  }
  uint32_t narrow[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    narrow[lane] = static_cast<uint32_t>(values[lane]);
  storeLanes(context, target, narrow);
}

Step convert(Context &context, const Inst &inst) {
  const Operand &source = inst.operands[1];
  const uint32_t *a = context.source(source);
  uint32_t low[warpLanes];
  if (source.bytes == 8 && typeBytes(inst.type2) < 8) {
    // A narrow value in a 64-bit register.
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      low[lane] = a[2 * lane];
    a = low;
  }
  uint64_t result[warpLanes];
  unsigned bits = 8 * typeBytes(inst.type);
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint64_t value = convertLane(inst, a, lane);
    if (bits < 64) {
      value &= (uint64_t(1) << bits) - 1;
      if (isSigned(inst.type) && bits < 32 && (value >> (bits - 1) & 1))
        value |= ~((uint64_t(1) << bits) - 1);
    }
    // 16-bit registers hold their value zero-extended.
    result[lane] = inst.count == 2 ? value & 0xffff : value;
  }
  storeConverted(context, inst, result);
  return Step::Next;
}

/// The two hot ones: cvt.rn.bf16x2.f32 and cvt.rn.f16x2.f32 d, high, low.
template <typename Format>
Step convertPair(Context &context, const Inst &inst) {
  const uint32_t *high = context.source(inst.operands[1]);
  const uint32_t *low = context.source(inst.operands[2]);
  uint32_t result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = Format::round(bitsFloat(low[lane]), inst) |
                   Format::round(bitsFloat(high[lane]), inst) << 16;
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

struct ToBf16 {
  static uint32_t round(float value, const Inst &inst) {
    if ((inst.flags & CvtRelu) && value < 0)
      value = 0;
    if (static_cast<Rounding>(inst.immediate) == Rounding::NearestEven)
      return floatToBf16(value);
    return roundTo(value, 8, 7, static_cast<Rounding>(inst.immediate));
  }
};
struct ToHalf {
  static uint32_t round(float value, const Inst &inst) {
    if ((inst.flags & CvtRelu) && value < 0)
      value = 0;
    if (static_cast<Rounding>(inst.immediate) == Rounding::NearestEven)
      return floatToHalf(value);
    return roundTo(value, 5, 10, static_cast<Rounding>(inst.immediate));
  }
};

bool takeRounding(Decoder &d, Inst &inst) {
  int rounding = d.takeOneOf({"rn", "rz", "rm", "rp", "rna"});
  if (rounding >= 0) {
    inst.immediate = rounding;
    return true;
  }
  rounding = d.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  if (rounding >= 0) {
    inst.immediate = rounding;
    inst.flags |= ToInteger;
  }
  return rounding >= 0;
}

/// What ptxas takes of .ftz, .sat and .relu.
bool checkModifiers(Decoder &d, const Inst &inst, bool rounds) {
  bool fromSmall = typeBytes(inst.type2) <= typeBytes(inst.type) &&
                   !isFloat(inst.type) && !isFloat(inst.type2) &&
                   isSigned(inst.type) == isSigned(inst.type2);
  if ((inst.flags & CvtSat) && fromSmall)
    return d.fail("unexpected '.sat' in 'cvt': the result holds all values");
  bool isShort =
      isFloat(inst.type) && inst.type != Type::F32 && inst.type != Type::F64;
  if ((inst.flags & CvtRelu) && (!isShort || inst.type2 != Type::F32))
    return d.fail("unexpected '.relu' in 'cvt'");
  bool isBrain = inst.type == Type::BF16 || inst.type == Type::BF16x2 ||
                 inst.type == Type::F16x2;
  if ((inst.flags & CvtFtz) &&
      (isBrain || (inst.type != Type::F32 && inst.type2 != Type::F32)))
    return d.fail("unexpected '.ftz' in 'cvt'");
  // What holds all values of the other needs no rounding, unless to integers.
  bool isExact = isFloat(inst.type) && isFloat(inst.type2) &&
                 typeBytes(inst.type) > typeBytes(inst.type2);
  bool isPair = inst.type == Type::F16x2 || inst.type == Type::BF16x2;
  bool anyBrain = inst.type == Type::BF16 || inst.type2 == Type::BF16;
  if ((isPair || anyBrain) && (inst.flags & CvtSat))
    return d.fail("unexpected '.sat' in 'cvt'");
  auto rounding = static_cast<Rounding>(inst.immediate);
  bool isNearOrZero =
      rounding == Rounding::NearestEven || rounding == Rounding::Zero;
  if (rounds && (isPair || inst.type == Type::BF16) && !isNearOrZero)
    return d.fail("unexpected rounding in 'cvt'");
  if (rounds && inst.type == inst.type2 && !(inst.flags & ToInteger))
    return d.fail("unexpected rounding in 'cvt'");
  return !rounds || (!isExact && (isFloat(inst.type) || isFloat(inst.type2))) ||
         d.fail("unexpected rounding in 'cvt'");
}

bool decodeCvt(Decoder &d, Inst &inst) {
  bool rounds = takeRounding(d, inst);
  if (d.take("ftz"))
    inst.flags |= CvtFtz;
  if (d.take("relu"))
    inst.flags |= CvtRelu;
  if (d.take("sat"))
    inst.flags |= CvtSat;
  if (!d.needType(inst.type))
    return false;
  bool isPair = inst.type == Type::F16x2 || inst.type == Type::BF16x2;
  if (!d.needType(inst.type2))
    return false;
  if (isBits(inst.type) || isBits(inst.type2))
    return d.fail("unsupported types of 'cvt'");
  if (!checkModifiers(d, inst, rounds))
    return false;
  if (isPair) {
    if (inst.type2 != Type::F32 || !rounds)
      return d.fail("expected a rounding and operands of type '.f32'");
    inst.execute =
        inst.type == Type::F16x2 ? convertPair<ToHalf> : convertPair<ToBf16>;
    return d.destination(inst.type) && d.source(Type::F32) &&
           d.source(Type::F32);
  }
  if (inst.type == Type::Pred || inst.type2 == Type::Pred ||
      inst.type == Type::B128 || inst.type2 == Type::B128 ||
      inst.type2 == Type::F16x2 || inst.type2 == Type::BF16x2)
    return d.fail("unsupported types of 'cvt'");
  // What narrows or changes kind must say how it rounds.
  bool narrows =
      isFloat(inst.type) &&
      (!isFloat(inst.type2) || typeBytes(inst.type) < typeBytes(inst.type2));
  if (narrows && !rounds)
    return d.fail("expected a rounding modifier in 'cvt'");
  if (!isFloat(inst.type) && isFloat(inst.type2) && !(inst.flags & ToInteger))
    return d.fail("expected .rni, .rzi, .rmi or .rpi in 'cvt'");
  inst.execute = convert;
  // Only bf16 must fit its register.
  bool isBrain = inst.type == Type::BF16 || inst.type2 == Type::BF16;
  if (!d.destination(inst.type, !isBrain) || !d.source(inst.type2, !isBrain))
    return false;
  inst.count = d.isHalfRegister(0) ? 2 : 4;
  return true;
}

constexpr Opcode table[] = {
    {"cvt", InstClass::Convert, decodeCvt},
};

} // namespace

OpcodeTable attn::runtime::emulator::convertOpcodes() {
  return makeTable(table);
}
