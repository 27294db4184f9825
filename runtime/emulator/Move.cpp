//===- Move.cpp - Moves, selections, comparisons --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Number.h"

#include <cmath>

using namespace attn::runtime::emulator;

namespace {

// Moves.

template <typename T>
Step move(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  T result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = laneGet<T>(a, lane);
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

Step movePredicate(Context &context, const Inst &inst) {
  context.setPredicate(inst.operands[0], context.predicate(inst.operands[1]));
  return Step::Next;
}

/// mov.b64 d, {a, b}: the elements, lowest first, make up the value.
Step pack(Context &context, const Inst &inst) {
  unsigned elements = inst.count;
  unsigned bits = static_cast<unsigned>(inst.immediate);
  uint64_t result[warpLanes] = {};
  for (unsigned e = 0; e < elements; ++e) {
    const Operand &operand = inst.operands[1 + e];
    const uint32_t *a = context.source(operand);
    uint64_t keep = bits == 32 ? UINT32_MAX : (uint64_t(1) << bits) - 1;
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      result[lane] |= (a[lane] & keep) << (bits * e);
  }
  if (inst.operands[0].bytes == 8) {
    storeLanes(context, inst.operands[0], result);
    return Step::Next;
  }
  uint32_t narrow[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    narrow[lane] = static_cast<uint32_t>(result[lane]);
  storeLanes(context, inst.operands[0], narrow);
  return Step::Next;
}

/// mov.b64 {a, b}, d.
Step unpack(Context &context, const Inst &inst) {
  unsigned elements = inst.count;
  unsigned bits = static_cast<unsigned>(inst.immediate);
  const Operand &whole = inst.operands[elements];
  uint64_t value[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    value[lane] = whole.bytes == 8
                      ? laneGet<uint64_t>(context.source(whole), lane)
                      : context.source(whole)[lane];
  for (unsigned e = 0; e < elements; ++e) {
    uint32_t part[warpLanes];
    uint64_t keep = bits == 32 ? UINT32_MAX : (uint64_t(1) << bits) - 1;
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      part[lane] = static_cast<uint32_t>(value[lane] >> (bits * e) & keep);
    storeLanes(context, inst.operands[e], part);
  }
  return Step::Next;
}

Type partType(unsigned bits) {
  return bits == 32 ? Type::B32 : bits == 16 ? Type::B16 : Type::B8;
}

bool isVector(const ptx::Operand *operand) {
  return operand && operand->kind == ptx::Operand::Vector;
}

bool decodeVectorMove(Decoder &d, Inst &inst, bool packs) {
  const ptx::Operand &vector = d.ast().operands[packs ? 1 : 0];
  unsigned elements = static_cast<unsigned>(vector.elements.size());
  unsigned bits = elements ? 8 * typeBytes(inst.type) / elements : 0;
  if ((elements != 2 && elements != 4) || (bits != 16 && bits != 32))
    return d.fail("unsupported vector in 'mov'");
  if (!isBits(inst.type))
    return d.fail("expected a type of bits in a 'mov' of a vector");
  inst.count = static_cast<uint8_t>(elements);
  inst.immediate = bits;
  inst.execute = packs ? pack : unpack;
  return packs
             ? d.destination(inst.type) && d.sources(partType(bits), elements)
             : d.destinations(partType(bits), elements) && d.source(inst.type);
}

/// %clock and %globaltimer count the emulator's instructions.
Step readClock(Context &context, const Inst &inst) {
  uint64_t now = context.launch.instructions;
  uint64_t wide[warpLanes];
  uint32_t narrow[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    wide[lane] = now;
    narrow[lane] = static_cast<uint32_t>(now);
  }
  if (inst.operands[0].bytes == 8)
    storeLanes(context, inst.operands[0], wide);
  else
    storeLanes(context, inst.operands[0], narrow);
  return Step::Next;
}

bool decodeMov(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::Pred, Type::B16, Type::U16, Type::S16,
                              Type::B32, Type::U32, Type::S32, Type::F32,
                              Type::B64, Type::U64, Type::S64, Type::F64}))
    return false;
  const std::vector<ptx::Operand> &operands = d.ast().operands;
  if (operands.size() == 2 && isVector(&operands[1]))
    return decodeVectorMove(d, inst, true);
  if (operands.size() == 2 && isVector(&operands[0]))
    return decodeVectorMove(d, inst, false);
  if (operands.size() == 2 && operands[1].kind == ptx::Operand::Name) {
    std::string_view name = operands[1].name;
    if (name == "%clock" || name == "%clock64" || name == "%globaltimer" ||
        name == "%clock_hi") {
      bool isWide = name == "%clock64" || name == "%globaltimer";
      if (typeBytes(inst.type) != (isWide ? 8 : 4) || isFloat(inst.type))
        return d.fail("unsupported type of a read of " + quote(name));
      inst.execute = readClock;
      // The name is no register: give the source something to resolve.
      return d.destination(inst.type) && d.skipOperand();
    }
  }
  switch (typeBytes(inst.type)) {
  case 2:
  case 4:
    inst.execute = move<uint32_t>;
    break;
  case 8:
    inst.execute = move<uint64_t>;
    break;
  default:
    if (inst.type == Type::Pred)
      inst.execute = movePredicate;
  }
  return setExecute(d, inst, inst.execute) && d.destination(inst.type) &&
         d.source(inst.type);
}

// Selection.

template <typename T>
Step select(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  uint32_t predicate = context.predicate(inst.operands[3]);
  T result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] =
        predicate >> lane & 1 ? laneGet<T>(a, lane) : laneGet<T>(b, lane);
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool decodeSelp(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::B16, Type::U16, Type::S16, Type::B32,
                              Type::U32, Type::S32, Type::F32, Type::B64,
                              Type::U64, Type::S64, Type::F64}))
    return false;
  inst.execute =
      typeBytes(inst.type) == 8 ? select<uint64_t> : select<uint32_t>;
  return d.destination(inst.type) && d.source(inst.type) &&
         d.source(inst.type) && d.predicateSource();
}

// Comparisons.

enum Comparison : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  IsNan,
};

enum : uint32_t { Ftz = 1, UnsignedSpelling = 2 };

template <typename T>
bool compare(Comparison how, T a, T b) {
  bool unordered = a != a || b != b;
  switch (how) {
  case Eq:
    return a == b;
  case Ne:
    return a != b && !unordered;
  case Lt:
    return a < b;
  case Le:
    return a <= b;
  case Gt:
    return a > b;
  case Ge:
    return a >= b;
  case Equ:
    return a == b || unordered;
  case Neu:
    return a != b;
  case Ltu:
    return a < b || unordered;
  case Leu:
    return a <= b || unordered;
  case Gtu:
    return a > b || unordered;
  case Geu:
    return a >= b || unordered;
  case Num:
    return !unordered;
  case IsNan:
    return unordered;
  }
  return false;
}

template <typename T>
T prepare(T value, uint32_t flags) {
  if constexpr (std::is_same_v<T, float>)
    return flags & Ftz ? flush(value) : value;
  return value;
}

template <typename T>
uint32_t compareLanes(Comparison how, const uint32_t *a, const uint32_t *b,
                      uint32_t flags) {
  uint32_t bits = 0;
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    bits |= uint32_t(compare(how, prepare(laneGet<T>(a, lane), flags),
                             prepare(laneGet<T>(b, lane), flags)))
            << lane;
  return bits;
}

uint32_t compareShort(Comparison how, const uint32_t *a, const uint32_t *b,
                      Type type) {
  uint32_t bits = 0;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint16_t x = static_cast<uint16_t>(a[lane]),
             y = static_cast<uint16_t>(b[lane]);
    bool result = type == Type::F16
                      ? compare(how, halfToFloat(x), halfToFloat(y))
                      : compare(how, bf16ToFloat(x), bf16ToFloat(y));
    bits |= uint32_t(result) << lane;
  }
  return bits;
}

uint32_t compareAny(Context &context, const Inst &inst, const Operand &left,
                    const Operand &right) {
  Comparison how = static_cast<Comparison>(inst.immediate & 15);
  const uint32_t *a = context.source(left), *b = context.source(right);
  switch (inst.type) {
  case Type::B16:
  case Type::U16:
    return compareLanes<uint16_t>(how, a, b, 0);
  case Type::S16:
    return compareLanes<int16_t>(how, a, b, 0);
  case Type::S32:
    return compareLanes<int32_t>(how, a, b, 0);
  case Type::F32:
    return compareLanes<float>(how, a, b, inst.flags);
  case Type::B64:
  case Type::U64:
    return compareLanes<uint64_t>(how, a, b, 0);
  case Type::S64:
    return compareLanes<int64_t>(how, a, b, 0);
  case Type::F64:
    return compareLanes<double>(how, a, b, 0);
  case Type::F16:
  case Type::BF16:
    return compareShort(how, a, b, inst.type);
  default:
    return compareLanes<uint32_t>(how, a, b, 0);
  }
}

/// With `.and p` and the like, immediate >> 4 is 1 + the operation.
Step setp(Context &context, const Inst &inst) {
  uint32_t bits = compareAny(context, inst, inst.operands[2], inst.operands[3]);
  uint32_t other = ~bits;
  if (int combine = static_cast<int>(inst.immediate >> 4)) {
    uint32_t third = context.predicate(inst.operands[4]);
    auto apply = [&](uint32_t x) {
      return combine == 1 ? x & third : combine == 2 ? x | third : x ^ third;
    };
    other = apply(~bits);
    bits = apply(bits);
  }
  context.setPredicate(inst.operands[0], bits);
  context.setPredicate(inst.operands[1], other);
  return Step::Next;
}

/// set: all ones or 1.0f as a value.
Step set(Context &context, const Inst &inst) {
  uint32_t bits = compareAny(context, inst, inst.operands[1], inst.operands[2]);
  uint32_t yes = inst.type2 == Type::F32 ? floatBits(1.0f) : UINT32_MAX;
  uint32_t result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = bits >> lane & 1 ? yes : 0;
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool takeComparison(Decoder &d, Inst &inst) {
  int how = d.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu",
                         "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (how < 0) {
    // Unsigned spellings of integer comparisons.
    how = d.takeOneOf({"lo", "ls", "hi", "hs"});
    if (how < 0)
      return d.fail("unknown comparison '." + std::string(d.peek()) + "' of '" +
                    std::string(d.ast().opcode) + "'");
    how += Lt;
    inst.flags |= UnsignedSpelling;
  }
  inst.immediate = how;
  return true;
}

bool checkComparison(Decoder &d, const Inst &inst) {
  int64_t how = inst.immediate & 15;
  bool floatOnly = how >= Equ;
  if (inst.type == Type::Pred || inst.type == Type::F16x2 ||
      inst.type == Type::BF16x2 || typeBytes(inst.type) < 2 ||
      (floatOnly && !isFloat(inst.type)) || (isBits(inst.type) && how > Ne) ||
      ((inst.flags & UnsignedSpelling) &&
       (isFloat(inst.type) || isSigned(inst.type))) ||
      ((inst.flags & Ftz) && inst.type != Type::F32))
    return d.fail("unsupported type '." + std::string(typeName(inst.type)) +
                  "' of '" + std::string(d.ast().opcode) + "'");
  return true;
}

bool decodeSetp(Decoder &d, Inst &inst) {
  if (!takeComparison(d, inst))
    return false;
  int combine = d.takeOneOf({"and", "or", "xor"});
  inst.immediate |= (combine + 1) << 4;
  if (d.take("ftz"))
    inst.flags |= Ftz;
  if (!d.needType(inst.type) || !checkComparison(d, inst))
    return false;
  inst.execute = setp;
  if (!d.pair(Type::Pred) || !d.source(inst.type) || !d.source(inst.type))
    return false;
  return combine < 0 || d.predicateSource();
}

bool decodeSet(Decoder &d, Inst &inst) {
  if (!takeComparison(d, inst))
    return false;
  if (d.take("ftz"))
    inst.flags |= Ftz;
  if (!d.needType(inst.type2, {Type::U32, Type::S32, Type::F32}) ||
      !d.needType(inst.type) || !checkComparison(d, inst))
    return false;
  inst.execute = set;
  return d.destination(inst.type2) && d.source(inst.type) &&
         d.source(inst.type);
}

/// testp.nan and the like.
Step testp(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  uint32_t bits = 0;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    double value = inst.type == Type::F64 ? laneGet<double>(a, lane)
                                          : double(bitsFloat(a[lane]));
    bool subnormal = inst.type == Type::F64
                         ? std::fpclassify(value) == FP_SUBNORMAL
                         : std::fpclassify(bitsFloat(a[lane])) == FP_SUBNORMAL;
    bool tests[] = {std::isfinite(value),
                    std::isinf(value),
                    !std::isnan(value),
                    std::isnan(value),
                    std::isfinite(value) && value != 0 && !subnormal,
                    subnormal};
    bits |= uint32_t(tests[inst.immediate]) << lane;
  }
  context.setPredicate(inst.operands[0], bits);
  return Step::Next;
}

bool decodeTestp(Decoder &d, Inst &inst) {
  inst.immediate = d.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (inst.immediate < 0)
    return d.fail("unknown test of 'testp'");
  if (!d.needType(inst.type, {Type::F32, Type::F64}))
    return false;
  inst.execute = testp;
  return d.predicateDestination() && d.source(inst.type);
}

constexpr Opcode table[] = {
    {"mov", InstClass::Move, decodeMov},
    {"selp", InstClass::Move, decodeSelp},
    {"setp", InstClass::Integer, decodeSetp},
    {"set", InstClass::Integer, decodeSet},
    {"testp", InstClass::Float, decodeTestp},
};

} // namespace

OpcodeTable attn::runtime::emulator::moveOpcodes() { return makeTable(table); }
