//===- Integer.cpp - Integer, logic and bit instructions ------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Lanes.h"

#include <type_traits>

using namespace attn::runtime::emulator;

namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

template <typename T>
constexpr unsigned bitsOf = sizeof(T) * 8;

struct And {
  template <typename T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <typename T>
  static T apply(T a) {
    return a == 0;
  }
};

/// On predicates the three are one word operation.
template <typename Op>
Step predicateBinary(Context &context, const Inst &inst) {
  context.setPredicate(inst.operands[0],
                       Op::apply(context.predicate(inst.operands[1]),
                                 context.predicate(inst.operands[2])));
  return Step::Next;
}

template <typename Op>
bool decodeBitwise(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::Pred, Type::B16, Type::B32, Type::B64}))
    return false;
  inst.execute = inst.type == Type::Pred ? predicateBinary<Op>
                                         : integerBinary<Op>(inst.type);
  return d.destination(inst.type) && d.source(inst.type) && d.source(inst.type);
}

bool decodeNot(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::Pred, Type::B16, Type::B32, Type::B64}))
    return false;
  inst.execute = integerUnary<Not>(inst.type);
  if (inst.type == Type::Pred)
    inst.execute = [](Context &context, const Inst &inst) {
      context.setPredicate(inst.operands[0],
                           ~context.predicate(inst.operands[1]));
      return Step::Next;
    };
  return d.destination(inst.type) && d.source(inst.type);
}

bool decodeCnot(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::B16, Type::B32, Type::B64}))
    return false;
  inst.execute = integerUnary<Cnot>(inst.type);
  return d.destination(inst.type) && d.source(inst.type);
}

// Shifts. The amount is an unsigned 32-bit value and clamps.

template <typename T, bool left>
Step shift(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  T result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint32_t amount = b[lane];
    T value = laneGet<T>(a, lane);
    bool all = amount >= bitsOf<T>;
    if (left)
      result[lane] =
          all ? T(0)
              : static_cast<T>(static_cast<Unsigned<T>>(value) << amount);
    else
      result[lane] = static_cast<T>(value >> (all ? bitsOf<T> - 1 : amount)) &
                     static_cast<T>(all && std::is_unsigned_v<T> ? 0 : -1);
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

template <bool left>
bool decodeShift(Decoder &d, Inst &inst) {
  bool isTyped = !left && !d.atEnd() && !isBits(parseType(d.peek()));
  if (isTyped ? !d.needType(inst.type, {Type::U16, Type::S16, Type::U32,
                                        Type::S32, Type::U64, Type::S64})
              : !d.needType(inst.type, {Type::B16, Type::B32, Type::B64}))
    return false;
  Execute execute = nullptr;
  switch (inst.type) {
  case Type::B16:
  case Type::U16:
    execute = shift<uint16_t, left>;
    break;
  case Type::S16:
    execute = shift<int16_t, left>;
    break;
  case Type::B32:
  case Type::U32:
    execute = shift<uint32_t, left>;
    break;
  case Type::S32:
    execute = shift<int32_t, left>;
    break;
  case Type::B64:
  case Type::U64:
    execute = shift<uint64_t, left>;
    break;
  case Type::S64:
    execute = shift<int64_t, left>;
    break;
  default:
    break;
  }
  return setExecute(d, inst, execute) && d.destination(inst.type) &&
         d.source(inst.type) && d.source(Type::U32);
}

template <bool left, bool wrap>
struct Funnel {
  static uint32_t apply(uint32_t low, uint32_t high, uint32_t amount) {
    amount = wrap ? amount & 31 : amount > 32 ? 32 : amount;
    uint64_t both = uint64_t(high) << 32 | low;
    return left ? static_cast<uint32_t>(both << amount >> 32)
                : static_cast<uint32_t>(both >> amount);
  }
};

/// A left shift by 32 of the pair leaves the low word on top, which 64 bits
/// give as well.
bool decodeFunnel(Decoder &d, Inst &inst) {
  int left = d.takeOneOf({"l", "r"});
  int wrap = d.takeOneOf({"wrap", "clamp"});
  if (left < 0 || wrap < 0)
    return d.fail("expected .l or .r and .wrap or .clamp in 'shf'");
  if (!d.needType(inst.type, {Type::B32}))
    return false;
  inst.execute = left == 0
                     ? (wrap == 0 ? ternaryOp<uint32_t, Funnel<true, true>>
                                  : ternaryOp<uint32_t, Funnel<true, false>>)
                     : (wrap == 0 ? ternaryOp<uint32_t, Funnel<false, true>>
                                  : ternaryOp<uint32_t, Funnel<false, false>>);
  return d.destination(Type::B32) && d.source(Type::B32) &&
         d.source(Type::B32) && d.source(Type::U32);
}

// Counting and reversing.

template <typename T>
Step popc(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  uint32_t result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] =
        static_cast<uint32_t>(__builtin_popcountll(laneGet<T>(a, lane)));
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

template <typename T>
Step clz(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  uint32_t result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint64_t value = laneGet<T>(a, lane);
    result[lane] =
        value ? static_cast<uint32_t>(__builtin_clzll(value)) - 64 + bitsOf<T>
              : bitsOf<T>;
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

template <typename T>
Step bfind(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  uint32_t result[warpLanes];
  bool shiftAmount = inst.immediate;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    T signedValue = laneGet<T>(a, lane);
    Unsigned<T> value = static_cast<Unsigned<T>>(
        signedValue < 0 ? static_cast<T>(~signedValue) : signedValue);
    uint32_t position =
        value ? 63 - static_cast<uint32_t>(__builtin_clzll(value)) : UINT32_MAX;
    if (shiftAmount && position != UINT32_MAX)
      position = bitsOf<T> - 1 - position;
    result[lane] = position;
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

struct Brev {
  template <typename T>
  static T apply(T value) {
    Unsigned<T> in = static_cast<Unsigned<T>>(value), out = 0;
    for (unsigned i = 0; i < bitsOf<T>; ++i)
      out = static_cast<Unsigned<T>>(out << 1 | (in >> i & 1));
    return static_cast<T>(out);
  }
};

bool decodePopc(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::B32, Type::B64}))
    return false;
  inst.execute = inst.type == Type::B64 ? popc<uint64_t> : popc<uint32_t>;
  return d.destination(Type::U32) && d.source(inst.type);
}
bool decodeClz(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::B32, Type::B64}))
    return false;
  inst.execute = inst.type == Type::B64 ? clz<uint64_t> : clz<uint32_t>;
  return d.destination(Type::U32) && d.source(inst.type);
}
bool decodeBfind(Decoder &d, Inst &inst) {
  inst.immediate = d.take("shiftamt");
  if (!d.needType(inst.type, {Type::U32, Type::S32, Type::U64, Type::S64}))
    return false;
  inst.execute = inst.type == Type::U32   ? bfind<uint32_t>
                 : inst.type == Type::S32 ? bfind<int32_t>
                 : inst.type == Type::U64 ? bfind<uint64_t>
                                          : bfind<int64_t>;
  return d.destination(Type::U32) && d.source(inst.type);
}
bool decodeBrev(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::B32, Type::B64}))
    return false;
  inst.execute = integerUnary<Brev>(inst.type);
  return d.destination(inst.type) && d.source(inst.type);
}

// Bit fields.

/// Of a: the `length` bits from `position`, sign-extended for signed types
/// from the field's top bit, or the value's where the field passes its end.
template <typename T>
Step bfe(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  const uint32_t *c = context.source(inst.operands[3]);
  T result[warpLanes];
  constexpr unsigned bits = bitsOf<T>;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint32_t position = b[lane] & 255, length = c[lane] & 255;
    T value = laneGet<T>(a, lane);
    Unsigned<T> raw = static_cast<Unsigned<T>>(value);
    bool sign = false;
    if (std::is_signed_v<T> && length) {
      uint32_t top = std::min(position + length - 1, bits - 1);
      sign = raw >> top & 1;
    }
    Unsigned<T> field = position < bits ? raw >> position : 0;
    uint32_t valid = position < bits ? std::min(length, bits - position) : 0;
    Unsigned<T> keep =
        valid >= bits ? ~Unsigned<T>(0) : (Unsigned<T>(1) << valid) - 1;
    result[lane] = static_cast<T>((field & keep) | (sign ? ~keep : 0));
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool decodeBfe(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::U32, Type::S32, Type::U64, Type::S64}))
    return false;
  inst.execute = inst.type == Type::U32   ? bfe<uint32_t>
                 : inst.type == Type::S32 ? bfe<int32_t>
                 : inst.type == Type::U64 ? bfe<uint64_t>
                                          : bfe<int64_t>;
  return d.destination(inst.type) && d.source(inst.type) &&
         d.source(Type::U32) && d.checkImmediate(2, 0, 255) &&
         d.source(Type::U32) && d.checkImmediate(3, 0, 255);
}

template <typename T>
Step bfi(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  const uint32_t *c = context.source(inst.operands[3]);
  const uint32_t *e = context.source(inst.operands[4]);
  T result[warpLanes];
  constexpr unsigned bits = bitsOf<T>;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint32_t position = c[lane] & 255, length = e[lane] & 255;
    T mask = 0;
    if (position < bits && length) {
      T ones = length >= bits ? ~T(0) : (T(1) << length) - 1;
      mask = ones << position;
    }
    T inserted = position < bits ? laneGet<T>(a, lane) << position : 0;
    result[lane] = (inserted & mask) | (laneGet<T>(b, lane) & ~mask);
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool decodeBfi(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::B32, Type::B64}))
    return false;
  inst.execute = inst.type == Type::B64 ? bfi<uint64_t> : bfi<uint32_t>;
  return d.destination(inst.type) && d.source(inst.type) &&
         d.source(inst.type) && d.source(Type::U32) &&
         d.checkImmediate(3, 0, 255) && d.source(Type::U32) &&
         d.checkImmediate(4, 0, 255);
}

// Byte permutation and three-input logic.

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t select = selector >> (4 * i) & 15;
    uint32_t byte = static_cast<uint32_t>(both >> (8 * (select & 7))) & 255;
    if (select & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// The selector that a prmt mode stands for, from the two low bits of c.
uint32_t modeSelector(int mode, uint32_t c) {
  static constexpr uint16_t f4e[] = {0x3210, 0x4321, 0x5432, 0x6543};
  static constexpr uint16_t b4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
  static constexpr uint16_t rc8[] = {0x0000, 0x1111, 0x2222, 0x3333};
  static constexpr uint16_t ecl[] = {0x3210, 0x3211, 0x3222, 0x3333};
  static constexpr uint16_t ecr[] = {0x0000, 0x1110, 0x2210, 0x3210};
  static constexpr uint16_t rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
  static constexpr const uint16_t *modes[] = {f4e, b4e, rc8, ecl, ecr, rc16};
  return mode < 0 ? c : modes[mode][c & 3];
}

Step prmt(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  const uint32_t *c = context.source(inst.operands[3]);
  uint32_t result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] =
        permute(a[lane], b[lane],
                modeSelector(static_cast<int>(inst.immediate), c[lane]));
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool decodePrmt(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::B32}))
    return false;
  inst.immediate = d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  inst.execute = prmt;
  return d.destination(Type::B32) && d.source(Type::B32) &&
         d.source(Type::B32) && d.source(Type::B32);
}

Step lop3(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  const uint32_t *c = context.source(inst.operands[3]);
  uint32_t table = static_cast<uint32_t>(inst.immediate);
  uint32_t result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint32_t value = 0;
    for (unsigned i = 0; i < 8; ++i)
      if (table >> i & 1)
        value |= (i & 4 ? a[lane] : ~a[lane]) & (i & 2 ? b[lane] : ~b[lane]) &
                 (i & 1 ? c[lane] : ~c[lane]);
    result[lane] = value;
  }
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool decodeLop3(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::B32}))
    return false;
  inst.execute = lop3;
  return d.destination(Type::B32) && d.source(Type::B32) &&
         d.source(Type::B32) && d.source(Type::B32) &&
         d.immediate(inst.immediate, 0, 255);
}

struct Sad {
  template <typename T>
  static T apply(T a, T b, T c) {
    Unsigned<T> difference = a > b ? Unsigned<T>(a) - Unsigned<T>(b)
                                   : Unsigned<T>(b) - Unsigned<T>(a);
    return static_cast<T>(difference + Unsigned<T>(c));
  }
};

bool decodeSad(Decoder &d, Inst &inst) {
  if (!d.needType(inst.type, {Type::U32, Type::S32}))
    return false;
  inst.execute = inst.type == Type::U32 ? ternaryOp<uint32_t, Sad>
                                        : ternaryOp<int32_t, Sad>;
  return d.destination(inst.type) && d.source(inst.type) &&
         d.source(inst.type) && d.source(inst.type);
}

constexpr Opcode table[] = {
    {"and", InstClass::Integer, decodeBitwise<And>},
    {"or", InstClass::Integer, decodeBitwise<Or>},
    {"xor", InstClass::Integer, decodeBitwise<Xor>},
    {"not", InstClass::Integer, decodeNot},
    {"cnot", InstClass::Integer, decodeCnot},
    {"shl", InstClass::Integer, decodeShift<true>},
    {"shr", InstClass::Integer, decodeShift<false>},
    {"shf", InstClass::Integer, decodeFunnel},
    {"popc", InstClass::Integer, decodePopc},
    {"clz", InstClass::Integer, decodeClz},
    {"bfind", InstClass::Integer, decodeBfind},
    {"brev", InstClass::Integer, decodeBrev},
    {"bfe", InstClass::Integer, decodeBfe},
    {"bfi", InstClass::Integer, decodeBfi},
    {"prmt", InstClass::Integer, decodePrmt},
    {"lop3", InstClass::Integer, decodeLop3},
    {"sad", InstClass::Integer, decodeSad},
};

} // namespace

OpcodeTable attn::runtime::emulator::integerOpcodes() {
  return makeTable(table);
}
