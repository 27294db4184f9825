//===- Diverge.cpp - Fragments that part and meet again -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Flow.h"

using namespace attn::runtime;
using namespace attn::runtime::emulator;

static int32_t newJoin(Warp &warp, uint32_t pc, uint32_t mask, int32_t parent) {
  for (size_t i = 0; i < warp.joins.size(); ++i)
    if (!warp.joins[i].used) {
      warp.joins[i] = {true, pc, mask, 0, parent};
      return static_cast<int32_t>(i);
    }
  warp.joins.push_back({true, pc, mask, 0, parent});
  return static_cast<int32_t>(warp.joins.size() - 1);
}

static Fragment *freeFragment(Warp &warp) {
  for (Fragment &fragment : warp.fragments)
    if (fragment.state == Fragment::Free)
      return &fragment;
  // Each fragment has a lane of its own, so 32 are enough.
  return nullptr;
}

static void setJoin(Warp &warp, Fragment &fragment, int32_t join) {
  fragment.join = join;
  fragment.joinPc = join < 0 ? noJoin : warp.joins[join].pc;
}

/// If all that a join expects has arrived, lets it go on as one fragment in
/// `fragment`; true if so.
static bool tryComplete(Warp &warp, int32_t index, Fragment &fragment) {
  Join &join = warp.joins[index];
  if (join.arrived != join.expected)
    return false;
  join.used = false;
  fragment = Fragment();
  if (!join.arrived)
    return true;
  fragment.state = Fragment::Ready;
  fragment.pc = join.pc;
  fragment.mask = join.arrived;
  setJoin(warp, fragment, join.parent);
  return true;
}

void attn::runtime::emulator::arriveAtJoin(Warp &warp, Fragment &fragment) {
  while (fragment.state == Fragment::Ready && fragment.pc == fragment.joinPc) {
    int32_t index = fragment.join;
    warp.joins[index].arrived |= fragment.mask;
    fragment.state = Fragment::Free;
    if (!tryComplete(warp, index, fragment))
      return;
  }
}

void attn::runtime::emulator::endLanes(Warp &warp, Fragment &fragment,
                                       uint32_t mask) {
  Block &block = *warp.block;
  warp.live &= ~mask;
  fragment.mask &= ~mask;
  int32_t join = fragment.join;
  if (!fragment.mask)
    fragment = Fragment();
  while (join >= 0) {
    int32_t parent = warp.joins[join].parent;
    Join &entry = warp.joins[join];
    entry.expected &= ~mask;
    if (entry.arrived == entry.expected && entry.used) {
      Fragment *merged = freeFragment(warp);
      if (merged && tryComplete(warp, join, *merged) &&
          merged->state == Fragment::Ready)
        arriveAtJoin(warp, *merged);
    }
    join = parent;
  }
  if (!warp.live) {
    --block.liveWarps;
    block.launch.noteProgress();
  }
}

/// Parts the lanes of `taken` from the fragment, which has others; the two meet
/// again at the branch's join.
static Step split(Context &context, const Inst &inst, uint32_t taken,
                  uint32_t target) {
  Fragment &fragment = *context.fragment;
  Warp &warp = context.warp;
  int32_t join = fragment.join;
  // A loop whose lanes leave one by one keeps to a single join.
  if (inst.join != noJoin && fragment.joinPc != inst.join)
    join = newJoin(warp, inst.join, fragment.mask, fragment.join);
  Fragment *other = freeFragment(warp);
  if (!other)
    return context.fault(inst, -1, "internal: no fragment left");
  *other = Fragment();
  other->state = Fragment::Ready;
  other->pc = target;
  other->mask = taken;
  setJoin(warp, *other, join);
  fragment.mask &= ~taken;
  ++fragment.pc;
  setJoin(warp, fragment, join);
  arriveAtJoin(warp, *other);
  return Step::Jump;
}

Step attn::runtime::emulator::branch(Context &context, const Inst &inst,
                                     uint32_t taken, uint32_t target) {
  Fragment &fragment = *context.fragment;
  uint32_t rest = fragment.mask & ~taken;
  if (!rest) {
    fragment.pc = target;
    return Step::Jump;
  }
  if (!taken)
    return Step::Next;
  if (inst.flags & IsUniform)
    return context.fault(inst, static_cast<int>(firstLane(taken)),
                         "lanes diverge at a branch that is marked .uni");
  ++context.launch.statistics.divergentBranches;
  return split(context, inst, taken, target);
}

/// Whether some lanes of `warp` still have something to do before they wait for
/// others. They may have had no turn for long.
static bool computes(const Warp &warp) {
  for (const Fragment &fragment : warp.fragments)
    if (fragment.state == Fragment::Ready && !fragment.polls)
      return true;
  return false;
}

bool attn::runtime::emulator::breakJoins(Block &block) {
  bool any = false;
  for (Warp &warp : block.warps) {
    if (computes(warp))
      continue;
    for (Join &join : warp.joins) {
      if (!join.used || !join.arrived)
        continue;
      Fragment *fragment = freeFragment(warp);
      if (!fragment)
        continue;
      *fragment = Fragment();
      fragment->state = Fragment::Ready;
      fragment->pc = join.pc;
      fragment->mask = join.arrived;
      setJoin(warp, *fragment, join.parent);
      join.expected &= ~join.arrived;
      join.arrived = 0;
      any = true;
      arriveAtJoin(warp, *fragment);
      // The vector of joins may have moved.
      break;
    }
  }
  return any;
}

Step attn::runtime::emulator::branchIndexed(
    Context &context, const Inst &inst, const uint32_t (&targets)[warpLanes]) {
  Fragment &fragment = *context.fragment;
  uint32_t pc = fragment.pc;
  uint32_t left = context.mask;
  while (left) {
    uint32_t target = targets[firstLane(left)];
    uint32_t same = 0;
    for (uint32_t lane = 0; lane < warpLanes; ++lane)
      same |= uint32_t((left >> lane & 1) && targets[lane] == target) << lane;
    if (same == fragment.mask) {
      fragment.pc = target;
      return Step::Jump;
    }
    ++context.launch.statistics.divergentBranches;
    fragment.pc = pc;
    if (split(context, inst, same, target) == Step::Fault)
      return Step::Fault;
    left &= ~same;
  }
  // The lanes that the guard turned off go to the next instruction.
  return Step::Jump;
}
