//===- WarpOps.cpp - Instructions among the lanes of a warp ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Lanes.h"

using namespace attn::runtime::emulator;

namespace {

/// The lanes named by the mask operand must all be here, and every lane here
/// must be named. Lanes that ended do not count.
bool checkMembers(Context &context, const Inst &inst, const Operand &operand) {
  uint64_t members = 0;
  if (!context.uniform(inst, operand, members, "member mask"))
    return false;
  uint32_t wanted = static_cast<uint32_t>(members) & context.warp.live;
  if (wanted == context.mask)
    return true;
  if (wanted & ~context.mask) {
    context.fault(inst, -1,
                  "collective instruction in a diverged warp: expected lanes " +
                      hex(wanted) + ", but got " + hex(context.mask));
    return false;
  }
  context.fault(inst, static_cast<int>(firstLane(context.mask & ~wanted)),
                "a lane that is not in the member mask " + hex(members) +
                    " executes the instruction");
  return false;
}

enum ShuffleMode : int { Up, Down, Butterfly, Index };

/// The lane that `lane` reads from, and whether it is in range.
bool shuffleSource(int mode, unsigned lane, uint32_t b, uint32_t c,
                   unsigned &from) {
  uint32_t clamp = c & 31, segment = c >> 8 & 31;
  b &= 31;
  uint32_t highest = (lane & segment) | (clamp & ~segment);
  uint32_t lowest = lane & segment;
  int32_t source = 0;
  bool inRange = false;
  switch (mode) {
  case Up:
    source = static_cast<int32_t>(lane) - static_cast<int32_t>(b);
    inRange = source >= static_cast<int32_t>(highest);
    break;
  case Down:
    source = static_cast<int32_t>(lane + b);
    inRange = source <= static_cast<int32_t>(highest);
    break;
  case Butterfly:
    source = static_cast<int32_t>(lane ^ b);
    inRange = source <= static_cast<int32_t>(highest);
    break;
  default:
    source = static_cast<int32_t>(lowest | (b & ~segment));
    inRange = source <= static_cast<int32_t>(highest);
  }
  from = inRange ? static_cast<unsigned>(source) & 31 : lane;
  return inRange;
}

Step shfl(Context &context, const Inst &inst) {
  if (!checkMembers(context, inst, inst.operands[5]))
    return Step::Fault;
  const uint32_t *a = context.source(inst.operands[2]);
  const uint32_t *b = context.source(inst.operands[3]);
  const uint32_t *c = context.source(inst.operands[4]);
  uint32_t result[warpLanes];
  uint32_t valid = 0;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    unsigned from = lane;
    valid |= uint32_t(shuffleSource(static_cast<int>(inst.immediate), lane,
                                    b[lane], c[lane], from))
             << lane;
    if ((context.mask >> lane & 1) && !(context.mask >> from & 1) &&
        context.checks())
      return context.fault(inst, static_cast<int>(lane),
                           "reads from lane " + std::to_string(from) +
                               ", which does not take part");
    result[lane] = a[from];
  }
  storeLanes(context, inst.operands[0], result);
  context.setPredicate(inst.operands[1], valid);
  return Step::Next;
}

bool decodeShfl(Decoder &d, Inst &inst) {
  if (!d.need("sync"))
    return false;
  inst.immediate = d.takeOneOf({"up", "down", "bfly", "idx"});
  if (inst.immediate < 0)
    return d.fail("unknown mode '." + std::string(d.peek()) + "' of 'shfl'");
  inst.execute = shfl;
  const ptx::Operand *result = d.peekOperand();
  if (result && result->kind == ptx::Operand::Pair &&
      result->elements[0].name == "_")
    return d.fail("expected a result of 'shfl', but got '_'");
  return d.needType(inst.type, {Type::B32}) && d.pair(Type::B32) &&
         d.source(Type::B32) && d.source(Type::B32) && d.source(Type::B32) &&
         d.source(Type::U32);
}

enum VoteMode : int { All, Any, Uniform, Ballot };

Step vote(Context &context, const Inst &inst) {
  if (!checkMembers(context, inst, inst.operands[2]))
    return Step::Fault;
  uint32_t on = context.predicate(inst.operands[1]) & context.mask;
  if (inst.immediate == Ballot) {
    uint32_t result[warpLanes];
    for (uint32_t &value : result)
      value = on;
    storeLanes(context, inst.operands[0], result);
    return Step::Next;
  }
  bool all = on == context.mask, any = on != 0;
  bool result = inst.immediate == All   ? all
                : inst.immediate == Any ? any
                                        : all || !any;
  context.setPredicate(inst.operands[0], result ? UINT32_MAX : 0);
  return Step::Next;
}

bool decodeVote(Decoder &d, Inst &inst) {
  if (!d.need("sync"))
    return false;
  inst.immediate = d.takeOneOf({"all", "any", "uni", "ballot"});
  if (inst.immediate < 0)
    return d.fail("unknown mode '." + std::string(d.peek()) + "' of 'vote'");
  Type type = inst.immediate == Ballot ? Type::B32 : Type::Pred;
  inst.execute = vote;
  return d.needType(inst.type, {type}) && d.destination(type) &&
         d.predicateSource() && d.source(Type::U32);
}

/// The lowest lane of the mask is elected.
Step elect(Context &context, const Inst &inst) {
  if (!checkMembers(context, inst, inst.operands[2]))
    return Step::Fault;
  unsigned leader = firstLane(context.mask);
  uint32_t result[warpLanes];
  for (uint32_t &value : result)
    value = leader;
  storeLanes(context, inst.operands[0], result);
  context.setPredicate(inst.operands[1], 1u << leader);
  return Step::Next;
}

bool decodeElect(Decoder &d, Inst &inst) {
  inst.execute = elect;
  return d.needTarget(90) && d.need("sync") && d.needPair() &&
         d.pair(Type::B32) && d.source(Type::U32);
}

Step activemask(Context &context, const Inst &inst) {
  uint32_t result[warpLanes];
  for (uint32_t &value : result)
    value = context.mask;
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool decodeActivemask(Decoder &d, Inst &inst) {
  inst.execute = activemask;
  return d.needType(inst.type, {Type::B32}) && d.destination(Type::B32);
}

template <bool all>
Step match(Context &context, const Inst &inst) {
  if (!checkMembers(context, inst, inst.operands[3]))
    return Step::Fault;
  const Operand &source = inst.operands[2];
  auto value = [&](unsigned lane) {
    return source.bytes == 8 ? context.source64(source)[lane]
                             : uint64_t(context.source(source)[lane]);
  };
  uint32_t result[warpLanes] = {};
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    for (unsigned other = 0; other < warpLanes; ++other)
      if ((context.mask >> other & 1) && value(lane) == value(other))
        result[lane] |= 1u << other;
  bool same = result[firstLane(context.mask)] == context.mask;
  if (all)
    for (uint32_t &lanes : result)
      lanes = same ? context.mask : 0;
  storeLanes(context, inst.operands[0], result);
  context.setPredicate(inst.operands[1], same ? UINT32_MAX : 0);
  return Step::Next;
}

/// A result without a predicate.
bool takeResult(Decoder &d, Inst &inst) {
  if (!d.destination(Type::U32))
    return false;
  inst.operands.emplace_back();
  return true;
}

bool decodeMatch(Decoder &d, Inst &inst) {
  int mode = d.takeOneOf({"any", "all"});
  if (mode < 0)
    return d.fail("expected .any or .all in 'match'");
  inst.execute = mode ? match<true> : match<false>;
  return d.need("sync") && d.needType(inst.type, {Type::B32, Type::B64}) &&
         (mode ? d.pair(Type::U32) : takeResult(d, inst)) &&
         d.source(inst.type) && d.source(Type::U32);
}

enum ReduxMode : int {
  ReduxAdd,
  ReduxMin,
  ReduxMax,
  ReduxAnd,
  ReduxOr,
  ReduxXor
};

Step redux(Context &context, const Inst &inst) {
  if (!checkMembers(context, inst, inst.operands[2]))
    return Step::Fault;
  const uint32_t *a = context.source(inst.operands[1]);
  uint32_t total = a[firstLane(context.mask)];
  for (uint32_t rest = context.mask & (context.mask - 1); rest;
       rest &= rest - 1) {
    uint32_t value = a[firstLane(rest)];
    bool less = inst.type == Type::S32
                    ? static_cast<int32_t>(value) < static_cast<int32_t>(total)
                    : value < total;
    switch (inst.immediate) {
    case ReduxAdd:
      total += value;
      break;
    case ReduxMin:
      total = less ? value : total;
      break;
    case ReduxMax:
      total = less ? total : value;
      break;
    case ReduxAnd:
      total &= value;
      break;
    case ReduxOr:
      total |= value;
      break;
    default:
      total ^= value;
    }
  }
  uint32_t result[warpLanes];
  for (uint32_t &value : result)
    value = total;
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool decodeRedux(Decoder &d, Inst &inst) {
  if (!d.needTarget(80) || !d.need("sync"))
    return false;
  inst.immediate = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  if (inst.immediate < 0)
    return d.fail("unknown operation '." + std::string(d.peek()) +
                  "' of 'redux'");
  inst.execute = redux;
  bool isLogical = inst.immediate >= ReduxAnd;
  return (isLogical ? d.needType(inst.type, {Type::B32})
                    : d.needType(inst.type, {Type::U32, Type::S32})) &&
         d.destination(Type::U32) && d.source(Type::U32) && d.source(Type::U32);
}

constexpr Opcode table[] = {
    {"shfl", InstClass::Shuffle, decodeShfl},
    {"vote", InstClass::Shuffle, decodeVote},
    {"elect", InstClass::Shuffle, decodeElect},
    {"activemask", InstClass::Shuffle, decodeActivemask},
    {"match", InstClass::Shuffle, decodeMatch},
    {"redux", InstClass::Shuffle, decodeRedux},
};

} // namespace

OpcodeTable attn::runtime::emulator::warpOpcodes() { return makeTable(table); }
