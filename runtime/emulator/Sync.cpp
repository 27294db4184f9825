//===- Sync.cpp - What threads publish and learn --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Sync.h"
#include "runtime/emulator/Check.h"

using namespace attn::runtime::emulator;

static void joinAll(BlockKnowledge &into, const BlockKnowledge &from) {
  for (const auto &[block, known] : from)
    into[block].join(known);
}

static bool isWhole(const Warp &warp, uint32_t lanes) {
  return !(warp.live & ~lanes);
}

/// What the lane knows beyond the others; null if nothing.
static const LaneKnowledge *partOf(const Warp &warp, uint32_t lane) {
  for (const LaneKnowledge &part : warp.parts)
    if (part.lanes >> lane & 1)
      return &part;
  return nullptr;
}

const Knowledge &attn::runtime::emulator::knowledgeOf(const Warp &warp,
                                                      uint32_t lane) {
  const LaneKnowledge *part = partOf(warp, lane);
  return part ? part->known : warp.known;
}

const BlockKnowledge &attn::runtime::emulator::foreignOf(const Warp &warp,
                                                         uint32_t lane) {
  const LaneKnowledge *part = partOf(warp, lane);
  return part ? part->foreign : warp.foreign;
}

bool attn::runtime::emulator::knowsOver(const Warp &warp, uint32_t agent,
                                        uint32_t lanes, uint32_t epoch) {
  bool known = warp.known.seen.covers(agent, lanes, epoch);
  for (const LaneKnowledge &part : warp.parts)
    known |= part.known.seen.covers(agent, lanes, epoch);
  return known;
}

void attn::runtime::emulator::nextEpoch(Warp &warp) { ++warp.epoch; }

// Learning.

/// Makes the parts such that each is within `lanes` or outside, and each of
/// the lanes in one.
static void dividePart(Warp &warp, uint32_t lanes) {
  uint32_t rest = lanes;
  for (size_t i = 0, count = warp.parts.size(); i < count; ++i) {
    uint32_t both = warp.parts[i].lanes & lanes;
    rest &= ~both;
    if (!both || both == warp.parts[i].lanes)
      continue;
    LaneKnowledge inside = warp.parts[i];
    inside.lanes = both;
    warp.parts[i].lanes &= ~both;
    warp.parts.push_back(std::move(inside));
  }
  if (rest)
    warp.parts.push_back({rest, warp.known, warp.foreign});
}

/// What each lane knows, all know.
static void unitePart(Warp &warp) {
  uint32_t lanes = 0;
  for (const LaneKnowledge &part : warp.parts)
    lanes |= part.lanes;
  if (warp.parts.empty() || !isWhole(warp, lanes))
    return;
  Knowledge known = warp.parts[0].known;
  for (const LaneKnowledge &part : warp.parts)
    known.meet(part.known);
  warp.known.join(known);
  if (warp.parts.size() > 1)
    return;
  warp.foreign = std::move(warp.parts[0].foreign);
  warp.parts.clear();
}

void attn::runtime::emulator::learn(Warp &warp, uint32_t lanes,
                                    const Knowledge &known,
                                    const BlockKnowledge *foreign) {
  bool whole = isWhole(warp, lanes);
  if (whole) {
    warp.known.join(known);
    if (foreign)
      joinAll(warp.foreign, *foreign);
    if (warp.parts.empty())
      return;
  } else {
    dividePart(warp, lanes);
  }
  for (LaneKnowledge &part : warp.parts) {
    if (!(part.lanes & lanes))
      continue;
    part.known.join(known);
    if (foreign)
      joinAll(part.foreign, *foreign);
  }
  if (!whole)
    unitePart(warp);
}

void attn::runtime::emulator::joinLanes(Warp &warp, uint32_t lanes) {
  uint32_t copyAgent = warp.block->copyAgent(warp.index);
  if (isWhole(warp, lanes)) {
    for (const LaneKnowledge &part : warp.parts) {
      warp.known.join(part.known);
      joinAll(warp.foreign, part.foreign);
    }
    warp.parts.clear();
    warp.known.seen.raise(warp.index, warp.epoch);
    if (warp.copyWaited)
      warp.known.seen.raise(copyAgent, warp.copyWaited);
    nextEpoch(warp);
    return;
  }
  Knowledge known;
  BlockKnowledge foreign;
  for (const LaneKnowledge &part : warp.parts)
    if (part.lanes & lanes) {
      known.join(part.known);
      joinAll(foreign, part.foreign);
    }
  known.seen.raise(warp.index, lanes, warp.epoch);
  known.seen.raise(copyAgent, lanes, warp.copyWaited);
  learn(warp, lanes, known, &foreign);
  nextEpoch(warp);
}

/// What the lanes have seen and done is visible to the async proxy for them
/// from now on, and for whom they synchronise with.
void attn::runtime::emulator::fenceProxy(Warp &warp, uint32_t lanes,
                                         bool shared, bool global) {
  Clock seen = warp.known.seen;
  for (const LaneKnowledge &part : warp.parts)
    if (part.lanes & lanes)
      seen.join(part.known.seen);
  if (isWhole(warp, lanes))
    lanes = Clock::allLanes;
  seen.raise(warp.index, lanes, warp.epoch);
  seen.raise(warp.block->copyAgent(warp.index), lanes, warp.copyWaited);
  Knowledge fenced;
  BlockKnowledge foreign;
  if (shared)
    fenced.fencedShared = fenced.initFenced = seen;
  if (global) {
    fenced.fencedGlobal = seen;
    joinAll(foreign, warp.foreign);
    for (const LaneKnowledge &part : warp.parts)
      if (part.lanes & lanes)
        joinAll(foreign, part.foreign);
    for (auto &[block, known] : foreign)
      known.fencedGlobal.join(known.seen);
  }
  learn(warp, lanes, fenced, &foreign);
  nextEpoch(warp);
}

void attn::runtime::emulator::fenceInit(Warp &warp, uint32_t lanes) {
  Knowledge fenced;
  fenced.initFenced.raise(
      warp.index, isWhole(warp, lanes) ? Clock::allLanes : lanes, warp.epoch);
  learn(warp, lanes, fenced);
  nextEpoch(warp);
}

// Publishing.

/// Lanes that were never launched, or never copied, keep nothing back.
void attn::runtime::emulator::publishOwn(const Warp &warp, uint32_t lane,
                                         Knowledge &into) {
  uint32_t own = 1u << lane;
  into.seen.raise(warp.index, own | ~warp.launched, warp.epoch);
  into.seen.raise(warp.block->copyAgent(warp.index), own | ~warp.copyLanes,
                  warp.copyWaited);
}

void attn::runtime::emulator::publishLane(const Warp &warp, uint32_t lane,
                                          Knowledge &into) {
  into.join(knowledgeOf(warp, lane));
  publishOwn(warp, lane, into);
}

void attn::runtime::emulator::publishWarp(const Warp &warp, Knowledge &into) {
  into.join(warp.known);
  for (const LaneKnowledge &part : warp.parts)
    into.join(part.known);
  into.seen.raise(warp.index, warp.epoch);
  if (warp.copyWaited)
    into.seen.raise(warp.block->copyAgent(warp.index), warp.copyWaited);
}

// Through memory.

uint64_t attn::runtime::emulator::syncKey(const Context &context,
                                          ptx::Space space, uint64_t address) {
  if (space == ptx::Space::None)
    space = genericSpace(address, address);
  if (space != ptx::Space::Shared)
    return address;
  return sharedWindow + (uint64_t(context.block.linear) << 24) + address;
}

/// The lane takes over what somebody published.
static void takeOver(Context &context, uint32_t lanes,
                     const BlockKnowledge &published) {
  uint32_t here = context.block.linear;
  BlockKnowledge foreign = published;
  foreign.erase(here);
  auto own = published.find(here);
  learn(context.warp, lanes, own == published.end() ? Knowledge() : own->second,
        &foreign);
}

void attn::runtime::emulator::publish(Context &context, uint32_t lane,
                                      uint64_t key, Ordering ordering) {
  if (!context.checks() || ordering == Ordering::Weak)
    return;
  Warp &warp = context.warp;
  if (ordering == Ordering::Release || ordering == Ordering::AcquireRelease) {
    BlockKnowledge &into = context.launch.releases[key];
    joinAll(into, foreignOf(warp, lane));
    publishLane(warp, lane, into[context.block.linear]);
    nextEpoch(warp);
  } else if (warp.fence.lanes >> lane & 1) {
    BlockKnowledge &into = context.launch.releases[key];
    joinAll(into, warp.fence.known);
    into[context.block.linear].seen.raise(
        warp.index, (1u << lane) | ~warp.launched, warp.fence.epochs[lane]);
  }
}

void attn::runtime::emulator::observe(Context &context, uint32_t lane,
                                      uint64_t key, Ordering ordering) {
  if (!context.checks() || ordering == Ordering::Weak)
    return;
  auto it = context.launch.releases.find(key);
  if (it == context.launch.releases.end())
    return;
  if (ordering == Ordering::Acquire || ordering == Ordering::AcquireRelease) {
    takeOver(context, 1u << lane, it->second);
    return;
  }
  Observed &observed = context.warp.observed[key];
  observed.lanes |= 1u << lane;
  joinAll(observed.known, it->second);
}

void attn::runtime::emulator::fence(Context &context) {
  if (!context.checks())
    return;
  Warp &warp = context.warp;
  for (auto it = warp.observed.begin(); it != warp.observed.end();) {
    Observed &observed = it->second;
    if (uint32_t lanes = observed.lanes & context.mask)
      takeOver(context, lanes, observed.known);
    observed.lanes &= ~context.mask;
    it = observed.lanes ? std::next(it) : warp.observed.erase(it);
  }
  warp.fence.lanes |= context.mask;
  joinAll(warp.fence.known, warp.foreign);
  Knowledge &known = warp.fence.known[context.block.linear];
  known.join(warp.known);
  for (const LaneKnowledge &part : warp.parts)
    if (part.lanes & context.mask) {
      joinAll(warp.fence.known, part.foreign);
      known.join(part.known);
    }
  for (uint32_t rest = context.mask; rest; rest &= rest - 1)
    warp.fence.epochs[firstLane(rest)] = warp.epoch;
  nextEpoch(warp);
}
