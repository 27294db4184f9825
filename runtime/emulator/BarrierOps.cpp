//===- BarrierOps.cpp - Named barriers, fences, setmaxnreg ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Check.h"
#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Sync.h"

using namespace attn::runtime;
using namespace attn::runtime::emulator;

namespace {

enum BarrierMode : int64_t { BarSync, BarArrive, BarRed };
enum Reduction : uint32_t { RedAnd = 1, RedOr = 2, RedPopc = 3 };

std::string number(uint64_t value) { return std::to_string(value); }

/// Operands: [result,] barrier, [count,] [predicate]. Inst::flags holds the
/// reduction, type2 says whether there is a count.
const Operand &barrierId(const Inst &inst) {
  return inst.operands[inst.flags ? 1 : 0];
}

void writeReduction(Context &context, const Inst &inst, uint32_t value,
                    uint32_t participants) {
  bool result = inst.flags == RedAnd ? value == participants : value != 0;
  if (inst.flags != RedPopc) {
    context.setPredicate(inst.operands[0], result ? UINT32_MAX : 0);
    return;
  }
  uint32_t lanes[warpLanes];
  for (uint32_t &lane : lanes)
    lane = value;
  storeLanes(context, inst.operands[0], lanes);
}

/// What a warp learns when the barrier lets it go.
void leaveBarrier(Context &context, const Inst &inst, NamedBarrier &barrier) {
  if (inst.flags)
    writeReduction(context, inst, barrier.reduction, barrier.arrived);
  if (!context.checks())
    return;
  joinLanes(context.warp, context.warp.live);
  learn(context.warp, context.warp.live, barrier.collecting);
}

void completeBarrier(Context &context, uint32_t id) {
  Block &block = context.block;
  NamedBarrier &barrier = block.barriers[id];
  for (const NamedBarrier::Sleeper &sleeper : barrier.sleepers) {
    Warp &warp = block.warps[sleeper.warp];
    Fragment &fragment = warp.fragments[sleeper.fragment];
    Context other{context.launch, block, warp, &fragment, fragment.mask};
    leaveBarrier(other, *sleeper.inst, barrier);
    block.wake(warp, fragment, true);
  }
  context.launch.noteProgress();
}

Step namedBarrier(Context &context, const Inst &inst) {
  if (!context.converged(inst))
    return Step::Fault;
  uint64_t id = 0;
  if (!context.uniform(inst, barrierId(inst), id, "barrier"))
    return Step::Fault;
  if (id >= namedBarriers)
    return context.fault(
        inst, -1, "expected a barrier from 0 to 15, but got " + number(id));
  Block &block = context.block;
  uint32_t threads = static_cast<uint32_t>(block.warps.size()) * warpLanes;
  uint64_t count = threads;
  if (inst.type2 != Type::None &&
      !context.uniform(inst, inst.operands[inst.flags ? 2 : 1], count,
                       "thread count"))
    return Step::Fault;
  if (count == 0 || count % warpLanes || count > threads)
    return context.fault(inst, -1,
                         "expected a thread count that is a multiple of 32 "
                         "and at most " +
                             number(threads) + ", but got " + number(count));
  NamedBarrier &barrier = block.barriers[id];
  if (barrier.arrived && barrier.expected != count)
    return context.fault(inst, -1,
                         "barrier " + number(id) + " is used with " +
                             number(count) + " threads, but with " +
                             number(barrier.expected) + " at ptx line " +
                             number(barrier.line));
  barrier.expected = static_cast<uint32_t>(count);
  barrier.line = inst.line;
  barrier.arrived += warpLanes;
  if (inst.flags) {
    uint32_t bits = context.predicate(inst.operands.back()) & context.mask;
    barrier.reduction += static_cast<uint32_t>(__builtin_popcount(bits));
  }
  context.noteSync(inst);
  if (context.checks()) {
    publishWarp(context.warp, barrier.collecting);
    nextEpoch(context.warp);
  }
  bool complete = barrier.arrived == barrier.expected;
  if (complete) {
    completeBarrier(context, static_cast<uint32_t>(id));
    if (inst.immediate != BarArrive)
      leaveBarrier(context, inst, barrier);
    barrier = NamedBarrier();
    return Step::Next;
  }
  if (inst.immediate == BarArrive)
    return Step::Next;
  ++context.launch.statistics.namedBarrierWaits;
  barrier.sleepers.push_back(
      {context.warp.index,
       static_cast<uint32_t>(context.fragment - context.warp.fragments),
       &inst});
  sleep(context, Wait::NamedBarrier, id);
  return Step::Wait;
}

/// Lanes that diverged may meet here on hardware; what a compiler emits has
/// them together, so that anything else is a fault.
Step warpSync(Context &context, const Inst &inst) {
  uint64_t members = 0;
  if (!context.uniform(inst, inst.operands[0], members, "member mask"))
    return Step::Fault;
  if ((members & context.warp.live) != context.mask)
    return context.fault(
        inst, -1,
        "collective instruction in a diverged warp: expected lanes " +
            hex(members & context.warp.live) + ", but got " +
            hex(context.mask));
  context.noteSync(inst);
  if (context.checks())
    joinLanes(context.warp, context.mask);
  return Step::Next;
}

bool decodeNamed(Decoder &d, Inst &inst) {
  inst.execute = namedBarrier;
  inst.immediate = d.takeOneOf({"sync", "arrive", "red"});
  if (inst.immediate < 0)
    return d.fail("unknown operation '." + std::string(d.peek()) + "' of '" +
                  std::string(d.ast().opcode) + "'");
  if (inst.immediate == BarRed) {
    int reduction = d.takeOneOf({"and", "or", "popc"});
    if (reduction < 0)
      return d.fail("expected .and, .or or .popc in a barrier reduction");
    inst.flags = static_cast<uint32_t>(reduction + 1);
  }
  // barrier.cta.red.op.aligned.type and bar.red.op.type
  if (d.ast().opcode == "barrier")
    d.take("aligned");
  if (inst.immediate == BarRed) {
    bool isPopc = inst.flags == RedPopc;
    if (!d.need(isPopc ? "u32" : "pred") ||
        !d.destination(isPopc ? Type::U32 : Type::Pred))
      return false;
  }
  size_t id = inst.operands.size();
  if (!d.source(Type::U32) || !d.checkImmediate(id, 0, namedBarriers - 1))
    return false;
  size_t extra = inst.immediate == BarRed ? 1 : 0;
  if (d.remaining() > extra) {
    inst.type2 = Type::U32;
    if (!d.source(Type::U32) ||
        !d.checkImmediate(id + 1, 0, INT32_MAX, warpLanes))
      return false;
  } else if (inst.immediate == BarArrive) {
    return d.fail("expected a thread count of a barrier arrive");
  }
  return !extra || d.predicateSource();
}

bool decodeBar(Decoder &d, Inst &inst) {
  if (d.ast().opcode == "bar" && d.take("warp")) {
    inst.execute = warpSync;
    return d.need("sync") && d.source(Type::U32);
  }
  d.take("cta");
  return decodeNamed(d, inst);
}

// Fences.

Step memoryFence(Context &context, const Inst &) {
  fence(context);
  return Step::Next;
}

/// Inst::space is the memory that the fence is for; None is all.
Step proxyFence(Context &context, const Inst &inst) {
  context.noteSync(inst);
  if (context.checks())
    fenceProxy(context.warp, context.mask, inst.space != ptx::Space::Global,
               inst.space != ptx::Space::Shared);
  return Step::Next;
}

Step initFence(Context &context, const Inst &inst) {
  context.noteSync(inst);
  if (context.checks())
    fenceInit(context.warp, context.mask);
  return Step::Next;
}

bool decodeFence(Decoder &d, Inst &inst) {
  if (d.take("mbarrier_init")) {
    inst.execute = initFence;
    return d.needTarget(90) && d.need("release") && d.need("cluster");
  }
  if (d.take("proxy")) {
    inst.execute = proxyFence;
    if (!d.needTarget(90) || !d.need("async"))
      return false;
    // A block's own shared memory is in both shared spaces.
    int space = d.takeOneOf({"global", "shared::cta", "shared::cluster"});
    inst.space = space < 0    ? ptx::Space::None
                 : space == 0 ? ptx::Space::Global
                              : ptx::Space::Shared;
    return true;
  }
  inst.execute = memoryFence;
  d.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  if (d.takeOneOf({"cta", "cluster", "gpu", "sys"}) < 0)
    return d.fail("expected a scope in 'fence', but got '." +
                  std::string(d.peek()) + "'");
  return true;
}

bool decodeMembar(Decoder &d, Inst &inst) {
  inst.execute = memoryFence;
  if (d.takeOneOf({"cta", "gl", "sys"}) < 0)
    return d.fail("expected a level in 'membar'");
  return true;
}

// Registers.

/// Every warp of the warpgroup must execute the same setmaxnregs.
bool sameInWarpgroup(Context &context, const Inst &inst) {
  Warpgroup &group =
      context.block.warpgroups[context.warp.index / warpgroupWarps];
  uint32_t bit = 1u << context.warp.index % warpgroupWarps;
  uint32_t pc = context.instIndex(inst);
  if (group.registersArrived &&
      (group.registersPc != pc || (group.registersArrived & bit))) {
    context.fault(
        inst, -1,
        "setmaxnreg is not executed by the whole warpgroup: other "
        "warps are at the one of ptx line " +
            number(context.launch.program.insts[group.registersPc].line));
    return false;
  }
  group.registersPc = pc;
  group.registersArrived |= bit;
  if (group.registersArrived == 15)
    group.registersArrived = 0;
  return true;
}

Step setmaxnreg(Context &context, const Inst &inst) {
  Warp &warp = context.warp;
  Block &block = context.block;
  const Program &program = context.launch.program;
  if (!context.converged(inst))
    return Step::Fault;
  uint32_t wanted = static_cast<uint32_t>(inst.immediate);
  bool increases = inst.flags & 1;
  if (context.checks() && !program.maxThreads[0] && !program.requiredThreads[0])
    return context.fault(inst, -1,
                         "setmaxnreg has no effect: the kernel declares "
                         "neither .maxntid nor .reqntid");
  if (increases ? wanted < warp.registerBudget : wanted > warp.registerBudget)
    return context.fault(
        inst, -1,
        std::string("setmaxnreg.") + (increases ? "inc" : "dec") + " to " +
            number(wanted) + " from " + number(warp.registerBudget) +
            " registers per thread");
  int64_t difference =
      (int64_t(wanted) - int64_t(warp.registerBudget)) * warpLanes;
  if (difference > block.registerPool) {
    ++context.launch.statistics.registerWaits;
    sleep(context, Wait::Registers, wanted);
    return Step::Retry;
  }
  if (context.checks() && !sameInWarpgroup(context, inst))
    return Step::Fault;
  block.registerPool -= difference;
  warp.registerBudget = warp.liveLimit = wanted;
  if (difference < 0)
    block.wakeWaiters(Wait::Registers, 0);
  context.launch.noteProgress();
  return Step::Next;
}

bool decodeSetmaxnreg(Decoder &d, Inst &inst) {
  if (!d.needTarget(90))
    return false;
  int direction = d.takeOneOf({"inc", "dec"});
  if (direction < 0)
    return d.fail("expected .inc or .dec in 'setmaxnreg'");
  inst.flags = direction == 0;
  inst.execute = setmaxnreg;
  if (!d.need("sync") || !d.need("aligned") || !d.need("u32") ||
      !d.immediate(inst.immediate, 24, 256))
    return false;
  return inst.immediate % 8 == 0 ||
         d.fail("expected a multiple of 8 registers, but got " +
                number(static_cast<uint64_t>(inst.immediate)));
}

/// Programmatic dependent launch: launches are in order here anyway.
bool decodeGridDependency(Decoder &d, Inst &inst) {
  inst.execute = [](Context &, const Inst &) { return Step::Next; };
  if (!d.needTarget(90))
    return false;
  return d.takeOneOf({"launch_dependents", "wait"}) >= 0 ||
         d.fail("expected .launch_dependents or .wait in 'griddepcontrol'");
}

} // namespace

OpcodeTable attn::runtime::emulator::barrierOpcodes() {
  static const Opcode table[] = {
      {"bar", InstClass::Barrier, decodeBar},
      {"barrier", InstClass::Barrier, decodeBar},
      {"fence", InstClass::Barrier, decodeFence},
      {"membar", InstClass::Barrier, decodeMembar},
      {"setmaxnreg", InstClass::Control, decodeSetmaxnreg},
      {"griddepcontrol", InstClass::Control, decodeGridDependency},
      mbarrierOpcode(),
  };
  return makeTable(table);
}
