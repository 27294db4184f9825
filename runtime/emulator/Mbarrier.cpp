//===- Mbarrier.cpp - mbarrier instructions -------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An mbarrier lives beside shared memory, keyed by its address; its 8 bytes
// are opaque, and ordinary accesses to them are faults.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Barriers.h"
#include "runtime/emulator/Check.h"
#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Sync.h"

using namespace attn::runtime;
using namespace attn::runtime::emulator;

/// PTX: the counts that an mbarrier can hold.
static constexpr int64_t maxCount = (1 << 20) - 1;

static std::string number(int64_t value) { return std::to_string(value); }

static std::string describe(uint64_t address, const Mbarrier &barrier) {
  return "mbarrier " + hex(address) + " (init at ptx line " +
         number(barrier.initLine) + ", phase " + number(barrier.phase) + ")";
}

/// The 8 bytes of a barrier must be free of other threads' accesses when it
/// is made.
static bool checkInit(Context &context, const Inst &inst, unsigned lane,
                      uint64_t address) {
  if (!context.checks())
    return true;
  const Warp &warp = context.warp;
  SharedAccess access{static_cast<uint16_t>(warp.index),
                      warp.epoch,
                      Access::Write,
                      &knowledgeOf(warp, lane),
                      "mbarrier.init",
                      static_cast<uint8_t>(lane)};
  return SharedChecker(context, inst, access).apply(address, 8);
}

/// Whether a lane may use what `init` initialised.
static bool isInitKnown(const Warp &warp, int lane, const Access &init) {
  uint32_t own = static_cast<uint32_t>(lane);
  return (init.agent == warp.index && init.lane == own) ||
         knowledgeOf(warp, own).seen.covers(init.agent, 1u << init.lane,
                                            init.epoch);
}

Mbarrier *attn::runtime::emulator::findMbarrier(Context &context,
                                                const Inst &inst, int lane,
                                                uint64_t address) {
  auto it = context.block.mbarriers.find(static_cast<uint32_t>(address));
  if (address > UINT32_MAX || it == context.block.mbarriers.end()) {
    context.fault(inst, lane,
                  "no mbarrier was initialised at shared address " +
                      hex(address));
    return nullptr;
  }
  Mbarrier &barrier = it->second;
  if (!context.checks() || isInitKnown(context.warp, lane, barrier.init))
    return &barrier;
  context.fault(inst, lane,
                "data race: this use of " + describe(address, barrier) +
                    " is not ordered after its initialisation by warp " +
                    number(barrier.init.agent));
  return nullptr;
}

Mbarrier *attn::runtime::emulator::findMbarrierForCopy(Context &context,
                                                       const Inst &inst,
                                                       int lane,
                                                       uint64_t address) {
  Mbarrier *barrier = findMbarrier(context, inst, lane, address);
  if (!barrier || !context.checks())
    return barrier;
  const Access &init = barrier->init;
  if (knowledgeOf(context.warp, static_cast<uint32_t>(lane))
          .initFenced.covers(init.agent, 1u << init.lane, init.epoch))
    return barrier;
  context.fault(inst, lane,
                describe(address, *barrier) +
                    " may not be visible to the async proxy: expected "
                    "fence.mbarrier_init or fence.proxy.async after its "
                    "initialisation");
  return nullptr;
}

static void completePhase(Block &block, uint32_t address, Mbarrier &barrier) {
  if (barrier.pending || barrier.transactions)
    return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  block.launch.noteProgress();
  if (block.launch.checks) {
    barrier.collecting.seen.raise(barrier.agent, barrier.phase);
    barrier.released.join(barrier.collecting);
    barrier.collecting.clear();
  }
  for (uint64_t parity = 0; parity < 2; ++parity)
    block.wakeWaiters(Wait::Mbarrier, parity << 32 | address);
}

void Publisher::add(Mbarrier &barrier, unsigned lane) {
  bool again =
      warp_.parts.empty() && last_ == &barrier && phase_ == barrier.phase;
  if (again)
    publishOwn(warp_, lane, barrier.collecting);
  else
    publishLane(warp_, lane, barrier.collecting);
  last_ = &barrier;
  phase_ = barrier.phase;
}

bool attn::runtime::emulator::completeBytes(Context &context, const Inst &inst,
                                            uint32_t address, uint32_t phase,
                                            int64_t bytes) {
  auto it = context.block.mbarriers.find(address);
  if (it == context.block.mbarriers.end()) {
    context.fault(inst, -1,
                  "mbarrier " + hex(address) +
                      " was invalidated while a copy was under way");
    return false;
  }
  Mbarrier &barrier = it->second;
  if (barrier.copiesInFlight)
    --barrier.copiesInFlight;
  if (context.checks() && barrier.phase != phase) {
    context.fault(
        inst, -1,
        "expect_tx does not match the bytes that arrive: " + number(bytes) +
            " bytes of a copy issued in phase " + number(phase) +
            " arrive at " + describe(address, barrier) +
            ", which had already completed that phase");
    return false;
  }
  barrier.transactions -= bytes;
  if (context.checks() && !barrier.pending && barrier.transactions < 0) {
    context.fault(inst, -1,
                  "expect_tx does not match the bytes that arrive: " +
                      number(-barrier.transactions) +
                      " bytes more than expected arrived at " +
                      describe(address, barrier));
    return false;
  }
  if (context.checks() &&
      (barrier.transactions > maxCount || barrier.transactions < -maxCount)) {
    context.fault(inst, -1,
                  "transaction count of " + describe(address, barrier) +
                      " is out of range: " + number(barrier.transactions));
    return false;
  }
  completePhase(context.block, address, barrier);
  return true;
}

bool attn::runtime::emulator::arrive(Context &context, const Inst &inst,
                                     int lane, uint32_t address, uint32_t count,
                                     int64_t expected) {
  auto it = context.block.mbarriers.find(address);
  if (it == context.block.mbarriers.end()) {
    context.fault(inst, lane, "no mbarrier at shared address " + hex(address));
    return false;
  }
  Mbarrier &barrier = it->second;
  if (count > barrier.pending) {
    context.fault(inst, lane,
                  "arrival beyond the count: " + describe(address, barrier) +
                      " has " + number(barrier.pending) + " of " +
                      number(barrier.count) + " arrivals pending, but " +
                      number(count) + " more arrive");
    return false;
  }
  barrier.transactions += expected;
  if (barrier.transactions > maxCount) {
    context.fault(inst, lane,
                  "transaction count of " + describe(address, barrier) +
                      " is out of range: " + number(barrier.transactions));
    return false;
  }
  barrier.pending -= count;
  if (context.checks() && !barrier.pending && barrier.transactions < 0) {
    context.fault(inst, lane,
                  "expect_tx does not match the bytes that arrive: " +
                      number(-barrier.transactions) +
                      " bytes more than expected arrived at " +
                      describe(address, barrier));
    return false;
  }
  completePhase(context.block, address, barrier);
  return true;
}

namespace {

enum ArriveFlags : uint32_t {
  ExpectTx = 1,
  NoArrive = 2,
  CompleteTx = 4,
  Drop = 8,
  Relaxed = 16,
};

uint64_t valueAt(const Context &context, const Operand &operand,
                 unsigned lane) {
  return operand.bytes == 8 ? context.source64(operand)[lane]
                            : uint64_t(context.source(operand)[lane]);
}

/// The shared address that a generic or shared operand gives.
uint64_t sharedAddress(uint64_t address, ptx::Space space) {
  if (space == ptx::Space::None) {
    uint64_t offset = 0;
    // Leave what is not shared as it is: no barrier will be found there.
    return genericSpace(address, offset) == ptx::Space::Shared ? offset
                                                               : address;
  }
  return address;
}

Step init(Context &context, const Inst &inst) {
  uint64_t addresses[warpLanes];
  context.addresses(inst.operands[0], addresses);
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    uint64_t address = sharedAddress(addresses[lane], inst.space);
    int64_t count =
        static_cast<int64_t>(valueAt(context, inst.operands[1], lane));
    if (!sharedInBounds(context, inst, static_cast<int>(lane), address, 8,
                        "mbarrier"))
      return Step::Fault;
    if (address % 8)
      return context.fault(inst, static_cast<int>(lane),
                           "misaligned mbarrier: expected a multiple of 8, "
                           "but got " +
                               hex(address));
    if (count < 1 || count > maxCount)
      return context.fault(inst, static_cast<int>(lane),
                           "expected an arrival count from 1 to " +
                               number(maxCount) + ", but got " + number(count));
    Block &block = context.block;
    uint32_t key = static_cast<uint32_t>(address);
    if (context.checks() && block.mbarriers.count(key))
      return context.fault(inst, static_cast<int>(lane),
                           describe(address, block.mbarriers[key]) +
                               " is initialised again without mbarrier.inval");
    if (!checkInit(context, inst, lane, address))
      return Step::Fault;
    // Each initialisation is an agent of its own, and their numbers are short.
    if (block.nextAgent > UINT16_MAX)
      return context.fault(inst, static_cast<int>(lane),
                           "unsupported: a block initialises mbarriers more "
                           "than 65000 times");
    Mbarrier &barrier = block.mbarriers[key];
    barrier = Mbarrier();
    barrier.count = barrier.pending = static_cast<uint32_t>(count);
    barrier.initLine = inst.line;
    barrier.agent = block.nextAgent++;
    barrier.init.agent = static_cast<uint16_t>(context.warp.index);
    barrier.init.epoch = context.warp.epoch;
    barrier.init.lane = static_cast<uint8_t>(lane);
  }
  context.noteSync(inst);
  return Step::Next;
}

Step invalidate(Context &context, const Inst &inst) {
  uint64_t addresses[warpLanes];
  context.addresses(inst.operands[0], addresses);
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    uint64_t address = sharedAddress(addresses[lane], inst.space);
    Mbarrier *barrier =
        findMbarrier(context, inst, static_cast<int>(lane), address);
    if (!barrier)
      return Step::Fault;
    if (barrier->copiesInFlight)
      return context.fault(inst, static_cast<int>(lane),
                           describe(address, *barrier) +
                               " is invalidated while copies are under way");
    context.block.mbarriers.erase(static_cast<uint32_t>(address));
  }
  return Step::Next;
}

/// arrive, arrive_drop, expect_tx and complete_tx, one lane after the other.
/// Operands: state (a Sink where there is none), address, count or bytes.
Step arriveLanes(Context &context, const Inst &inst) {
  uint64_t addresses[warpLanes];
  context.addresses(inst.operands[1], addresses);
  context.noteSync(inst);
  context.launch.noteProgress();
  Publisher publisher(context.warp);
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    int laneNumber = static_cast<int>(lane);
    uint64_t address = sharedAddress(addresses[lane], inst.space);
    Mbarrier *barrier = findMbarrier(context, inst, laneNumber, address);
    if (!barrier)
      return Step::Fault;
    uint32_t key = static_cast<uint32_t>(address);
    int64_t value = 1;
    if (inst.operands.size() > 2)
      value = static_cast<int64_t>(valueAt(context, inst.operands[2], lane));
    if (value < 0 || value > maxCount)
      return context.fault(inst, laneNumber,
                           "expected a count of at most " + number(maxCount) +
                               ", but got " + number(value));
    if (inst.operands[0].kind == Operand::Register)
      context.destination64(inst.operands[0])[lane] = barrier->phase;
    if (inst.flags & Drop) {
      if (!barrier->count)
        return context.fault(inst, laneNumber,
                             "arrive_drop of " + describe(address, *barrier) +
                                 ", which expects no arrivals");
      --barrier->count;
    }
    if (context.checks() && !(inst.flags & (Relaxed | NoArrive)))
      publisher.add(*barrier, lane);
    bool good = true;
    if (inst.flags & CompleteTx)
      good = completeBytes(context, inst, key, barrier->phase, value);
    else if (inst.flags & NoArrive)
      good = arrive(context, inst, laneNumber, key, 0, value);
    else if (inst.flags & ExpectTx)
      good = arrive(context, inst, laneNumber, key, 1, value);
    else
      good = arrive(context, inst, laneNumber, key,
                    static_cast<uint32_t>(value), 0);
    if (!good)
      return Step::Fault;
  }
  if (context.checks())
    nextEpoch(context.warp);
  return Step::Next;
}

/// A wait is over for a parity once the phase of that parity is not the
/// current one; for a state, once its phase has completed.
bool isOver(const Inst &inst, const Mbarrier &barrier, uint64_t value) {
  if (inst.flags & 1)
    return (barrier.phase & 1) != (value & 1);
  return barrier.phase > value;
}

/// The lanes whose wait is over learn what was published to their mbarrier.
void learnPhases(Context &context, const Inst &inst, uint32_t lanes,
                 const uint64_t (&addresses)[warpLanes]) {
  while (lanes) {
    uint64_t address = addresses[firstLane(lanes)];
    uint32_t same = 0;
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      same |= uint32_t(addresses[lane] == address) << lane;
    same &= lanes;
    lanes &= ~same;
    uint32_t key = static_cast<uint32_t>(sharedAddress(address, inst.space));
    learn(context.warp, same, context.block.mbarriers[key].released);
  }
}

/// Operands: predicate, address, state or parity, hint.
Step wait(Context &context, const Inst &inst) {
  uint64_t addresses[warpLanes];
  context.addresses(inst.operands[1], addresses);
  uint32_t over = 0;
  uint64_t key = 0, found = 0;
  Mbarrier *barrier = nullptr;
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    uint64_t address = sharedAddress(addresses[lane], inst.space);
    // Mostly all lanes wait for the same one.
    if (!barrier || address != found)
      barrier = findMbarrier(context, inst, static_cast<int>(lane), address);
    if (!barrier)
      return Step::Fault;
    found = address;
    uint64_t value = valueAt(context, inst.operands[2], lane);
    if (isOver(inst, *barrier, value))
      over |= 1u << lane;
    else
      key = (value & 1) << 32 | address;
  }
  // try_wait may suspend: sleeping until the phase changes is one of the
  // behaviours that it allows, and the one that shows deadlocks.
  if (!over && inst.immediate) {
    ++context.launch.statistics.mbarrierWaits;
    sleep(context, Wait::Mbarrier, key);
    return Step::Retry;
  }
  context.setPredicate(inst.operands[0], over);
  context.fragment->polls = !over;
  if (!over)
    ++context.launch.polls;
  if (over)
    context.noteSync(inst);
  if (over && context.checks() && !(inst.flags & Relaxed))
    learnPhases(context, inst, over, addresses);
  return Step::Next;
}

// Decoding.

/// One of two orders and a scope, or neither. Adds Relaxed, which orders
/// nothing.
bool takeSemantics(Decoder &d, Inst &inst, const char *order) {
  bool isRelaxed = d.take("relaxed");
  bool hasOrder = isRelaxed || (order && d.take(order));
  bool hasScope = d.takeOneOf({"cta", "cluster"}) >= 0;
  if (isRelaxed)
    inst.flags |= Relaxed;
  return hasOrder == hasScope ||
         d.fail("expected both an order and a scope, or none, in 'mbarrier'");
}

/// True for the shared memory of a cluster.
bool takeShared(Decoder &d, Inst &inst, bool mayBeCluster) {
  int space = d.takeOneOf({"shared", "shared::cta"});
  bool isCluster = mayBeCluster && space < 0 && d.take("shared::cluster");
  if (space >= 0 || isCluster)
    inst.space = ptx::Space::Shared;
  return isCluster;
}

/// The state that an arrive returns, a 64-bit register or `_`; an mbarrier of
/// the cluster returns none.
bool takeState(Decoder &d, bool isCluster) {
  const ptx::Operand *operand = d.peekOperand();
  bool isSink =
      operand && operand->kind == ptx::Operand::Name && operand->name == "_";
  if (isCluster && !isSink)
    return d.fail("expected '_' as the state of an mbarrier in "
                  "'.shared::cluster'");
  return d.destination(Type::U64);
}

bool decodeArrive(Decoder &d, Inst &inst, uint32_t flags) {
  if (d.take("expect_tx"))
    flags |= ExpectTx;
  bool noComplete = !(flags & ExpectTx) && d.take("noComplete");
  inst.flags |= flags;
  if (!takeSemantics(d, inst, "release"))
    return false;
  bool isCluster = takeShared(d, inst, true);
  inst.execute = arriveLanes;
  if (!d.need("b64") || !takeState(d, isCluster) || !d.address())
    return false;
  if (flags & ExpectTx)
    return d.source(Type::U32);
  if (!d.remaining())
    return !noComplete || d.fail("expected a count of '.noComplete'");
  return d.source(Type::U32) && d.checkImmediate(2, 1, maxCount);
}

bool decodeTransactions(Decoder &d, Inst &inst, uint32_t flags) {
  inst.flags |= flags;
  if (!takeSemantics(d, inst, nullptr))
    return false;
  takeShared(d, inst, true);
  inst.execute = arriveLanes;
  if (!d.need("b64"))
    return false;
  inst.operands.emplace_back();
  return d.address() && d.source(Type::U32);
}

bool decodeWait(Decoder &d, Inst &inst, bool suspends) {
  inst.immediate = suspends;
  if (suspends && !d.needTarget(90))
    return false;
  bool parity = d.take("parity");
  if (!takeSemantics(d, inst, "acquire"))
    return false;
  takeShared(d, inst, false);
  if (!d.need("b64"))
    return false;
  inst.flags |= parity;
  inst.execute = wait;
  if (!d.predicateDestination() || !d.address() ||
      !d.source(parity ? Type::U32 : Type::U64) ||
      (parity && !d.checkImmediate(2, 0, 1)))
    return false;
  return !suspends || !d.remaining() || d.source(Type::U32);
}

bool decodeMbarrier(Decoder &d, Inst &inst) {
  if (!d.needTarget(80))
    return false;
  if (d.take("init")) {
    takeShared(d, inst, false);
    inst.execute = init;
    return d.need("b64") && d.address() && d.source(Type::U32);
  }
  if (d.take("inval")) {
    takeShared(d, inst, false);
    inst.execute = invalidate;
    return d.need("b64") && d.address();
  }
  if (d.take("arrive"))
    return decodeArrive(d, inst, 0);
  if (d.take("arrive_drop"))
    return decodeArrive(d, inst, Drop);
  if (d.take("expect_tx"))
    return decodeTransactions(d, inst, NoArrive);
  if (d.take("complete_tx"))
    return decodeTransactions(d, inst, NoArrive | CompleteTx);
  if (d.take("test_wait"))
    return decodeWait(d, inst, false);
  if (d.take("try_wait"))
    return decodeWait(d, inst, true);
  return d.fail("unknown operation '." + std::string(d.peek()) +
                "' of 'mbarrier'");
}

} // namespace

Opcode attn::runtime::emulator::mbarrierOpcode() {
  return {"mbarrier", InstClass::Barrier, decodeMbarrier};
}
