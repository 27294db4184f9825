//===- LoadStore.cpp - ld, st, prefetch and address conversion ------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Check.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/QuickMemory.h"
#include "runtime/emulator/Sync.h"
#include "runtime/emulator/Traffic.h"

using namespace attn::runtime::emulator;

namespace {

/// Inst::immediate is the Ordering, count the vector's size; the flags are for
/// decoding only.
enum : uint32_t { IsVolatile = 1, IsWeak = 2 };

uint64_t loadBytes(const uint8_t *from, unsigned bytes) {
  uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

/// What a register of 32 or 64 bits gets from `bytes` bytes of memory.
uint64_t extend(uint64_t value, Type type, const Operand &target) {
  unsigned bits = 8 * typeBytes(type);
  if (isSigned(type) && bits < 64 && (value >> (bits - 1) & 1) &&
      target.declaredBytes * 8u > bits)
    value |= ~uint64_t(0) << bits;
  if (target.declaredBytes <= 2)
    value &= 0xffff;
  return value;
}

Step load(Context &context, const Inst &inst) {
  unsigned bytes = typeBytes(inst.type);
  unsigned total = bytes * inst.count;
  Ordering ordering = static_cast<Ordering>(inst.immediate);
  uint64_t addresses[warpLanes];
  const Operand &address = inst.operands[inst.count];
  context.addresses(address, addresses);
  if (!context.counts() && ordering == Ordering::Weak &&
      loadQuickly(context, inst, addresses))
    return Step::Next;
  countTraffic(context, inst, inst.space, addresses, total, AccessKind::Read);
  if (ordering != Ordering::Weak) {
    ++context.launch.polls;
    context.fragment->polls = true;
  }
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    const uint8_t *from = accessLane(
        context, inst, inst.space, addresses[lane], total, lane,
        ordering == Ordering::Weak ? AccessKind::Read : AccessKind::StrongRead);
    if (!from)
      return Step::Fault;
    for (unsigned e = 0; e < inst.count; ++e) {
      const Operand &target = inst.operands[e];
      if (target.kind != Operand::Register)
        continue;
      uint64_t value =
          extend(loadBytes(from + e * bytes, bytes), inst.type, target);
      if (target.bytes == 8)
        context.destination64(target)[lane] = value;
      else
        context.destination(target)[lane] = static_cast<uint32_t>(value);
    }
    if (ordering != Ordering::Weak)
      observe(context, lane, syncKey(context, inst.space, addresses[lane]),
              ordering);
  }
  return Step::Next;
}

Step store(Context &context, const Inst &inst) {
  unsigned bytes = typeBytes(inst.type);
  unsigned total = bytes * inst.count;
  Ordering ordering = static_cast<Ordering>(inst.immediate);
  uint64_t addresses[warpLanes];
  context.addresses(inst.operands[0], addresses);
  context.launch.noteProgress();
  if (!context.counts() && ordering == Ordering::Weak &&
      storeQuickly(context, inst, addresses))
    return Step::Next;
  countTraffic(context, inst, inst.space, addresses, total, AccessKind::Write);
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    uint8_t *to =
        accessLane(context, inst, inst.space, addresses[lane], total, lane,
                   ordering == Ordering::Weak ? AccessKind::Write
                                              : AccessKind::StrongWrite);
    if (!to)
      return Step::Fault;
    for (unsigned e = 0; e < inst.count; ++e) {
      const Operand &source = inst.operands[1 + e];
      uint64_t value = source.bytes == 8
                           ? context.source64(source)[lane]
                           : uint64_t(context.source(source)[lane]);
      if (context.warp.overlapsOwn &&
          std::memcmp(to + e * bytes, &value, bytes) != 0)
        return context.fault(inst, static_cast<int>(lane),
                             "data race: another lane of the same instruction "
                             "writes a different value to address " +
                                 hex(addresses[lane]));
      std::memcpy(to + e * bytes, &value, bytes);
    }
    if (ordering != Ordering::Weak)
      publish(context, lane, syncKey(context, inst.space, addresses[lane]),
              ordering);
  }
  return Step::Next;
}

/// .relaxed, .acquire and .release need a scope, others have none.
bool takeOrdering(Decoder &d, Inst &inst, bool isLoad) {
  Ordering ordering = Ordering::Weak;
  bool needsScope = false;
  if (d.take("volatile")) {
    ordering = Ordering::Relaxed;
    inst.flags |= IsVolatile;
  } else if (d.take("weak")) {
    inst.flags |= IsWeak;
  } else if (d.take("relaxed")) {
    ordering = Ordering::Relaxed;
    needsScope = true;
  } else if (d.take(isLoad ? "acquire" : "release")) {
    ordering = isLoad ? Ordering::Acquire : Ordering::Release;
    needsScope = true;
  }
  inst.immediate = static_cast<int64_t>(ordering);
  return !needsScope || d.takeOneOf({"cta", "cluster", "gpu", "sys"}) >= 0 ||
         d.fail("expected a scope in " + quote(d.ast().opcode));
}

bool takeSpace(Decoder &d, Inst &inst) {
  int space = d.takeOneOf({"global", "shared", "shared::cta", "local", "const",
                           "param", "param::entry"});
  static constexpr ptx::Space spaces[] = {
      ptx::Space::Global, ptx::Space::Shared, ptx::Space::Shared,
      ptx::Space::Local,  ptx::Space::Const,  ptx::Space::Param,
      ptx::Space::Param};
  if (space >= 0)
    inst.space = spaces[space];
  return true;
}

/// Cache hints change no value; which go together is a rule of the assembler.
struct CacheHints {
  bool nonCoherent = false, operation = false, first = false, second = false,
       prefetch = false, policy = false;
};

bool checkHints(Decoder &d, const Inst &inst, const CacheHints &hints) {
  bool isGlobal = inst.space == ptx::Space::Global;
  bool mayBeGlobal = isGlobal || inst.space == ptx::Space::None;
  bool isStrong = Ordering(inst.immediate) != Ordering::Weak;
  bool isOrdered = isStrong || (inst.flags & IsWeak);
  const char *problem = nullptr;
  if (hints.nonCoherent && (!isGlobal || isOrdered))
    problem = "'.nc' is for weak accesses to '.global'";
  else if (hints.operation && isStrong)
    problem = "a cache operation is for weak accesses";
  else if (hints.operation && (hints.first || hints.second))
    problem = "a cache operation and an eviction priority exclude each other";
  else if ((hints.first || hints.second || hints.policy) &&
           (inst.flags & IsVolatile))
    problem = "an eviction priority is not for '.volatile'";
  else if ((hints.first || hints.second || hints.prefetch || hints.policy) &&
           !mayBeGlobal)
    problem = "a cache hint is for '.global'";
  return !problem ||
         d.fail(std::string(problem) + " in " + quote(d.ast().opcode));
}

bool takeCacheHints(Decoder &d, Inst &inst, bool isLoad, CacheHints &hints) {
  hints.nonCoherent = isLoad && d.take("nc");
  // Not all of them go without coherence.
  if (!isLoad)
    hints.operation = d.takeOneOf({"wb", "cg", "cs", "wt"}) >= 0;
  else if (hints.nonCoherent)
    hints.operation = d.takeOneOf({"ca", "cg", "cs"}) >= 0;
  else
    hints.operation = d.takeOneOf({"ca", "cg", "cs", "lu", "cv"}) >= 0;
  hints.first =
      d.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                   "L1::evict_last", "L1::no_allocate"}) >= 0;
  hints.second = d.takeOneOf({"L2::evict_normal", "L2::evict_first",
                              "L2::evict_last"}) >= 0;
  hints.policy = d.take("L2::cache_hint");
  hints.prefetch =
      isLoad && d.takeOneOf({"L2::64B", "L2::128B", "L2::256B"}) >= 0;
  return checkHints(d, inst, hints);
}

bool takeVector(Decoder &d, Inst &inst) {
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  inst.count = static_cast<uint8_t>(vector < 0 ? 1 : 2 << vector);
  if (!d.needType(inst.type))
    return false;
  unsigned bytes = typeBytes(inst.type) * inst.count;
  // Of floats only those that have registers; more than 16 bytes came with
  // another version.
  bool isPlain =
      !isFloat(inst.type) || inst.type == Type::F32 || inst.type == Type::F64;
  if (!typeBytes(inst.type) || inst.type == Type::B128 || bytes > 16 ||
      !isPlain)
    return d.fail("unsupported type of '" + std::string(d.ast().opcode) + "'");
  return true;
}

bool decodeLd(Decoder &d, Inst &inst) {
  CacheHints hints;
  if (!takeOrdering(d, inst, true) || !takeSpace(d, inst) ||
      !takeCacheHints(d, inst, true, hints) || !takeVector(d, inst))
    return false;
  bool isReadOnly =
      inst.space == ptx::Space::Const || inst.space == ptx::Space::Param;
  bool isOwn = isReadOnly || inst.space == ptx::Space::Local;
  if (isOwn && Ordering(inst.immediate) != Ordering::Weak)
    return d.fail("a strong access is for '.global' or '.shared' in 'ld'");
  if (hints.second && typeBytes(inst.type) * inst.count < 32)
    return d.fail("unexpected L2 eviction priority in 'ld'");
  inst.execute = load;
  return d.destinations(inst.type, inst.count, true) && d.address() &&
         (!hints.policy || d.policy());
}

bool decodeLdu(Decoder &d, Inst &inst) {
  if (d.take("global"))
    inst.space = ptx::Space::Global;
  inst.immediate = static_cast<int64_t>(Ordering::Weak);
  inst.execute = load;
  return takeVector(d, inst) && d.destinations(inst.type, inst.count, true) &&
         d.address();
}

bool decodeSt(Decoder &d, Inst &inst) {
  CacheHints hints;
  if (!takeOrdering(d, inst, false) || !takeSpace(d, inst) ||
      !takeCacheHints(d, inst, false, hints) || !takeVector(d, inst))
    return false;
  if (inst.space == ptx::Space::Const || inst.space == ptx::Space::Param)
    return d.fail("'st' writes to no '.const' or '.param'");
  if (inst.space == ptx::Space::Local &&
      Ordering(inst.immediate) != Ordering::Weak)
    return d.fail("a strong access is for '.global' or '.shared' in 'st'");
  if (hints.second && typeBytes(inst.type) * inst.count < 32)
    return d.fail("unexpected L2 eviction priority in 'st'");
  inst.execute = store;
  return d.address() && d.sources(inst.type, inst.count, true) &&
         (!hints.policy || d.policy());
}

bool decodePrefetch(Decoder &d, Inst &inst) {
  int space = d.takeOneOf({"global", "local", "param", "const"});
  if (space == 0)
    inst.space = ptx::Space::Global;
  else if (space == 1)
    inst.space = ptx::Space::Local;
  else if (space == 2)
    inst.space = ptx::Space::Param;
  else if (space == 3)
    inst.space = ptx::Space::Const;
  bool isMap = d.peek() == "tensormap";
  if (space >= 0 && isMap != (space >= 2))
    return d.fail("unexpected state space in 'prefetch'");
  if (d.takeOneOf({"L1", "L2", "tensormap"}) < 0)
    return d.fail("expected .L1, .L2 or .tensormap in 'prefetch'");
  inst.execute = [](Context &, const Inst &) { return Step::Next; };
  return d.address();
}

/// A policy is a hint; its value is never looked at.
Step createpolicy(Context &context, const Inst &inst) {
  uint64_t result[warpLanes] = {};
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

bool decodeCreatepolicy(Decoder &d, Inst &inst) {
  if (!d.needTarget(80) || !d.need("fractional"))
    return false;
  if (d.takeOneOf({"L2::evict_last", "L2::evict_normal", "L2::evict_first",
                   "L2::evict_unchanged"}) < 0)
    return d.fail("unknown priority '." + std::string(d.peek()) +
                  "' of 'createpolicy'");
  d.takeOneOf({"L2::evict_first", "L2::evict_unchanged"});
  inst.execute = createpolicy;
  return d.need("b64") && d.destination(Type::U64) &&
         (!d.remaining() || d.source(Type::F32));
}

// Generic addresses: a space's window plus the offset.

uint64_t windowOf(ptx::Space space) {
  switch (space) {
  case ptx::Space::Shared:
    return sharedWindow;
  case ptx::Space::Local:
    return localWindow;
  case ptx::Space::Param:
    return paramWindow;
  case ptx::Space::Const:
    return constWindow;
  case ptx::Space::Global:
  case ptx::Space::None:
    break;
  }
  return 0;
}

Step cvta(Context &context, const Inst &inst) {
  uint64_t window = windowOf(inst.space);
  const Operand &source = inst.operands[1];
  uint64_t result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint64_t value = source.bytes == 8 ? context.source64(source)[lane]
                                       : uint64_t(context.source(source)[lane]);
    result[lane] = inst.immediate ? value - window : value + window;
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

bool decodeCvta(Decoder &d, Inst &inst) {
  inst.immediate = d.take("to");
  takeSpace(d, inst);
  if (inst.space == ptx::Space::None)
    return d.fail("expected a state space in 'cvta'");
  if (!d.needType(inst.type, {Type::U64, Type::U32}))
    return false;
  const ptx::Operand *source =
      d.ast().operands.size() > 1 ? &d.ast().operands[1] : nullptr;
  if (inst.immediate && source && !d.isRegister(*source))
    return d.fail("expected a register as the source of 'cvta.to'");
  if (!inst.immediate && source && !d.isRegister(*source) &&
      !d.isVariableOf(*source, inst.space))
    return d.fail("expected a variable of that space in 'cvta'");
  inst.execute = cvta;
  return d.destination(inst.type) && d.source(inst.type);
}

Step isspacep(Context &context, const Inst &inst) {
  const uint64_t *a = context.source64(inst.operands[1]);
  uint32_t bits = 0;
  for (unsigned lane = 0; lane < warpLanes; ++lane) {
    uint64_t offset = 0;
    bits |= uint32_t(genericSpace(a[lane], offset) == inst.space) << lane;
  }
  context.setPredicate(inst.operands[0], bits);
  return Step::Next;
}

bool decodeIsspacep(Decoder &d, Inst &inst) {
  takeSpace(d, inst);
  if (inst.space == ptx::Space::None)
    return d.fail("expected a state space in 'isspacep'");
  inst.execute = isspacep;
  return d.predicateDestination() && d.source(Type::U64);
}

constexpr Opcode table[] = {
    {"ld", InstClass::LoadStore, decodeLd},
    {"ldu", InstClass::LoadStore, decodeLdu},
    {"st", InstClass::LoadStore, decodeSt},
    {"prefetch", InstClass::LoadStore, decodePrefetch},
    {"createpolicy", InstClass::Other, decodeCreatepolicy},
    {"cvta", InstClass::Move, decodeCvta},
    {"isspacep", InstClass::Move, decodeIsspacep},
};

} // namespace

OpcodeTable attn::runtime::emulator::loadStoreOpcodes() {
  return makeTable(table);
}
