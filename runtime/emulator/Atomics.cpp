//===- Atomics.cpp - atom and red -----------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/AsyncCopy.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Sync.h"
#include "runtime/emulator/Traffic.h"

using namespace attn::runtime::emulator;

namespace {

enum Operation : int { Exchange = 100, CompareAndSwap = 101 };

/// Inst::immediate is a Reduce or an Operation, type2's place holds nothing;
/// flags is the Ordering, and bit 8 says whether there is a result.
constexpr uint32_t hasResult = 256;

uint64_t valueAt(const Context &context, const Operand &operand,
                 unsigned lane) {
  return operand.bytes == 8 ? context.source64(operand)[lane]
                            : uint64_t(context.source(operand)[lane]);
}

void update(const Inst &inst, uint8_t *memory, const uint64_t *sources,
            unsigned bytes) {
  if (inst.immediate == CompareAndSwap) {
    if (std::memcmp(memory, &sources[0], bytes) == 0)
      std::memcpy(memory, &sources[1], bytes);
    return;
  }
  uint8_t operand[8];
  std::memcpy(operand, &sources[0], bytes);
  if (inst.immediate == Exchange)
    std::memcpy(memory, operand, bytes);
  else
    reduceElements(static_cast<Reduce>(inst.immediate), inst.type, memory,
                   operand, bytes);
}

/// The lanes take turns, lowest first.
Step atomic(Context &context, const Inst &inst) {
  unsigned bytes = typeBytes(inst.type);
  Ordering ordering = static_cast<Ordering>(inst.flags & 255);
  size_t first = inst.flags & hasResult ? 1 : 0;
  unsigned vector = inst.count;
  size_t addressIndex = first * vector;
  uint64_t addresses[warpLanes];
  context.addresses(inst.operands[addressIndex], addresses);
  countTraffic(context, inst, inst.space, addresses, bytes * vector,
               AccessKind::Atomic);
  bool changed = false;
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    uint64_t key = syncKey(context, inst.space, addresses[lane]);
    uint8_t *memory = accessLane(context, inst, inst.space, addresses[lane],
                                 bytes * vector, lane, AccessKind::Atomic);
    if (!memory)
      return Step::Fault;
    publish(context, lane, key, ordering);
    for (unsigned e = 0; e < vector; ++e) {
      uint64_t sources[2] = {0, 0};
      size_t at = addressIndex + 1 + e;
      sources[0] = valueAt(context, inst.operands[at], lane);
      if (inst.immediate == CompareAndSwap)
        sources[1] = valueAt(context, inst.operands[at + 1], lane);
      uint64_t old = 0;
      std::memcpy(&old, memory + e * bytes, bytes);
      update(inst, memory + e * bytes, sources, bytes);
      changed |= std::memcmp(memory + e * bytes, &old, bytes) != 0;
      if (!first || inst.operands[e].kind != Operand::Register)
        continue;
      if (inst.operands[e].bytes == 8)
        context.destination64(inst.operands[e])[lane] = old;
      else
        context.destination(inst.operands[e])[lane] =
            static_cast<uint32_t>(old);
    }
    observe(context, lane, key, ordering);
  }
  context.fragment->polls = !changed;
  if (changed)
    context.launch.noteProgress();
  else
    ++context.launch.polls;
  return Step::Next;
}

/// The types that an operation has.
bool checkType(Decoder &d, const Inst &inst, int operation, bool noftz,
               bool result) {
  Type type = inst.type;
  bool isShort = type == Type::F16 || type == Type::F16x2 ||
                 type == Type::BF16 || type == Type::BF16x2;
  bool good = false;
  switch (operation) {
  case 0: // add
    good = !isBits(type) && type != Type::S64;
    break;
  case 1: // min
  case 2: // max
    good = !isBits(type) && ((!isFloat(type) || isShort) ||
                             (inst.count > 1 && type == Type::F32));
    break;
  case 3: // inc
  case 4: // dec
    good = type == Type::U32;
    break;
  case 8: // exch
  case 9: // cas
    good = result && isBits(type);
    break;
  default:
    good = isBits(type);
  }
  return (good && isShort == noftz) ||
         d.fail("unsupported type '." + std::string(typeName(type)) +
                "' of this operation of " + quote(d.ast().opcode));
}

void takeOrdering(Decoder &d, Inst &inst) {
  static constexpr Ordering orderings[] = {Ordering::Relaxed, Ordering::Acquire,
                                           Ordering::Release,
                                           Ordering::AcquireRelease};
  int ordering = d.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  inst.flags = uint32_t(orderings[std::max(ordering, 0)]);
  d.takeOneOf({"cta", "cluster", "gpu", "sys"});
}

bool decodeAtomic(Decoder &d, Inst &inst, bool result) {
  takeOrdering(d, inst);
  int space = d.takeOneOf({"global", "shared", "shared::cta"});
  inst.space = space < 0    ? ptx::Space::None
               : space == 0 ? ptx::Space::Global
                            : ptx::Space::Shared;
  int operation = d.takeOneOf(
      {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  if (operation < 0)
    return d.fail("unknown operation '." + std::string(d.peek()) + "' of '" +
                  std::string(d.ast().opcode) + "'");
  inst.immediate = operation == 8   ? int(Exchange)
                   : operation == 9 ? int(CompareAndSwap)
                                    : operation + 1;
  bool noftz = d.take("noftz");
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  inst.count = static_cast<uint8_t>(vector < 0 ? 1 : 2 << vector);
  if (!d.needType(inst.type, {Type::B32, Type::U32, Type::S32, Type::B64,
                              Type::U64, Type::S64, Type::F16, Type::F16x2,
                              Type::BF16, Type::BF16x2, Type::F32, Type::F64}))
    return false;
  if (typeBytes(inst.type) * inst.count > 16)
    return d.fail("vector is too large");
  if (!checkType(d, inst, operation, noftz, result))
    return false;
  Ordering ordering = static_cast<Ordering>(inst.flags & 255);
  if (!result &&
      (ordering == Ordering::Acquire || ordering == Ordering::AcquireRelease))
    return d.fail("'red' returns nothing and cannot acquire");
  if (result)
    inst.flags |= hasResult;
  inst.execute = atomic;
  if (result && !d.destinations(inst.type, inst.count))
    return false;
  if (!d.address() || !d.sources(inst.type, inst.count))
    return false;
  return operation != 9 || d.source(inst.type);
}

bool decodeAtom(Decoder &d, Inst &inst) { return decodeAtomic(d, inst, true); }
bool decodeRed(Decoder &d, Inst &inst) { return decodeAtomic(d, inst, false); }

constexpr Opcode table[] = {
    {"atom", InstClass::Atomic, decodeAtom},
    {"red", InstClass::Atomic, decodeRed},
};

} // namespace

OpcodeTable attn::runtime::emulator::atomicOpcodes() {
  return makeTable(table);
}
