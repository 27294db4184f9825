//===- Executor.cpp - Runs blocks and warps -------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Check.h"
#include "runtime/emulator/Quick.h"

#include <algorithm>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

/// After as many polls lanes no longer wait for a rest of their warp that
/// polls: what it polls for may be theirs to do.
static constexpr uint64_t maxPollsBeforeBreak = 500;
/// A turn of so many instructions without a poll is one that computes.
static constexpr uint64_t computingTurn = 64;
/// After so many polls a fragment's turn is over.
static constexpr uint64_t pollsPerTurn = 16;

static void initializeWarp(Warp &warp, Block &block, uint32_t index) {
  const Launch &launch = block.launch;
  const Program &program = launch.program;
  const Dim3 &threads = launch.threads;
  uint32_t total = threads.x * threads.y * threads.z;
  warp.block = &block;
  warp.index = index;
  warp.registers.assign(program.registerWords, 0);
  warp.predicates.assign(std::max<size_t>(program.predicates, 1), 0);
  uint32_t count = std::min(total - index * warpLanes, warpLanes);
  warp.launched = warp.live =
      count == warpLanes ? UINT32_MAX : (1u << count) - 1;
  auto set = [&](Special special, uint32_t lane, uint32_t value) {
    warp.registers[uint32_t(special) * 32 + lane] = value;
  };
  for (uint32_t lane = 0; lane < warpLanes; ++lane) {
    uint32_t thread = index * warpLanes + lane;
    set(Special::TidX, lane, thread % threads.x);
    set(Special::TidY, lane, thread / threads.x % threads.y);
    set(Special::TidZ, lane, thread / threads.x / threads.y);
    set(Special::NtidX, lane, threads.x);
    set(Special::NtidY, lane, threads.y);
    set(Special::NtidZ, lane, threads.z);
    set(Special::CtaidX, lane, block.index.x);
    set(Special::CtaidY, lane, block.index.y);
    set(Special::CtaidZ, lane, block.index.z);
    set(Special::NctaidX, lane, launch.grid.x);
    set(Special::NctaidY, lane, launch.grid.y);
    set(Special::NctaidZ, lane, launch.grid.z);
    set(Special::LaneId, lane, lane);
    set(Special::WarpId, lane, index);
    set(Special::NWarpId, lane, (total + warpLanes - 1) / warpLanes);
    set(Special::SmId, lane, block.linear % launch.multiprocessors);
    set(Special::NSmId, lane, launch.multiprocessors);
    set(Special::LaneMaskEq, lane, 1u << lane);
    set(Special::LaneMaskLt, lane, (1u << lane) - 1);
    set(Special::LaneMaskLe, lane, ((1u << lane) - 1) | 1u << lane);
    set(Special::LaneMaskGe, lane, ~((1u << lane) - 1));
    set(Special::LaneMaskGt, lane, ~(((1u << lane) - 1) | 1u << lane));
    set(Special::DynamicSmemSize, lane, launch.dynamicSharedBytes);
    set(Special::TotalSmemSize, lane, block.sharedBytes);
    set(Special::One, lane, 1);
  }
  warp.fragments[0].state = Fragment::Ready;
  warp.fragments[0].mask = warp.launched;
  warp.registerBudget = launch.registersAtLaunch;
  if (program.localBytes) {
    warp.local.assign(size_t(program.localBytes) * warpLanes, 0);
    if (launch.checks)
      warp.localWritten.assign(warp.local.size(), 0);
  }
  if (launch.checks) {
    warp.inFlight.resize(program.tracked.size());
    // Nothing is fenced at first: the first wgmma needs its fence.
    warp.touched.assign((program.tracked.size() + 63) / 64, ~uint64_t(0));
  }
}

Block::Block(Launch &launch, uint32_t linear) : launch(launch), linear(linear) {
  const Program &program = launch.program;
  index.x = linear % launch.grid.x;
  index.y = linear / launch.grid.x % launch.grid.y;
  index.z = linear / launch.grid.x / launch.grid.y;
  sharedBytes = program.dynamicSharedOffset + launch.dynamicSharedBytes;
  shared.assign(sharedBytes, 0);
  uint32_t total = launch.threads.x * launch.threads.y * launch.threads.z;
  uint32_t count = (total + warpLanes - 1) / warpLanes;
  warps.resize(count);
  liveWarps = count;
  for (uint32_t i = 0; i < count; ++i)
    initializeWarp(warps[i], *this, i);
  warpgroups.resize((count + warpgroupWarps - 1) / warpgroupWarps);
  nextAgent = firstMbarrierAgent();
  if (launch.checks) {
    sharedWritten.assign(sharedBytes, 0);
    sharedRaces.assign(sharedBytes / 4 + 1, 0);
    copyPieces.resize(count);
  }
}

// Running.

void Block::wake(Warp &warp, Fragment &fragment, bool next) {
  (void)warp;
  fragment.state = Fragment::Ready;
  fragment.wait = Wait::None;
  if (next)
    ++fragment.pc;
}

void Block::wakeWaiters(Wait wait, uint64_t key) {
  for (Warp &warp : warps)
    for (Fragment &fragment : warp.fragments)
      if (fragment.state == Fragment::Asleep && fragment.wait == wait &&
          (wait == Wait::Registers || fragment.waitKey == key))
        this->wake(warp, fragment, false);
}

bool Block::canRun() const {
  if (!async.empty())
    return true;
  for (const Warp &warp : warps)
    for (const Fragment &fragment : warp.fragments)
      if (fragment.state == Fragment::Ready)
        return true;
  return false;
}

/// Runs the copies that are under way: all, or with a seed some, in any order.
bool Block::completeAsync() {
  if (launch.seed && async.size() > 1) {
    size_t pick = launch.random() % async.size();
    std::swap(async.front(), async[pick]);
  }
  size_t count =
      launch.seed ? 1 + launch.random() % async.size() : async.size();
  for (; count && !async.empty(); --count) {
    AsyncOp op = std::move(async.front());
    async.pop_front();
    launch.noteProgress();
    if (!op.run())
      return false;
  }
  return true;
}

/// Runs one fragment until it sleeps, ends or has used up the quantum.
static bool runFragment(Block &block, Warp &warp, Fragment &fragment,
                        uint32_t quantum) {
  Launch &launch = block.launch;
  Context context{launch, block, warp, &fragment, 0};
  const Inst *insts = launch.program.insts.data();
  const bool checks = launch.checks;
  const uint64_t polls = launch.polls;
  while (quantum-- && launch.polls < polls + pollsPerTurn) {
    if (fragment.pc == fragment.joinPc) {
      arriveAtJoin(warp, fragment);
      if (fragment.state != Fragment::Ready)
        return true;
    }
    const Inst &inst = insts[fragment.pc];
    ++launch.instructions;
    uint32_t mask = fragment.mask;
    if (inst.guard >= 0) {
      uint32_t bits = warp.predicates[static_cast<uint32_t>(inst.guard)];
      mask &= inst.guardNegated ? ~bits : bits;
      if (!mask) {
        ++fragment.pc;
        continue;
      }
    }
    context.mask = mask;
    ++launch.statistics.byClass[size_t(inst.cls)];
    if (checks && !checkRegisters(context, inst))
      return false;
    switch (inst.execute(context, inst)) {
    case Step::Next:
      ++fragment.pc;
      break;
    case Step::Jump:
      if (fragment.state != Fragment::Ready)
        return true;
      break;
    case Step::Wait:
    case Step::Retry:
      return true;
    case Step::Exit:
      if (checks && !checkExit(context, inst))
        return false;
      if (mask != fragment.mask)
        ++fragment.pc;
      endLanes(warp, fragment, mask);
      if (fragment.state != Fragment::Ready)
        return true;
      break;
    case Step::Fault:
      return false;
    }
  }
  return true;
}

/// Drops the race states that no memory refers to any more.
static void compactRaces(Block &block) {
  Launch &launch = block.launch;
  if (block.raceTable.needsCompaction())
    block.raceTable.compact([&](const RaceTable::Visit &visit) {
      visit(block.sharedRaces.data(), block.sharedRaces.size());
    });
  if (launch.globalRaces.needsCompaction())
    launch.globalRaces.compact([&](const RaceTable::Visit &visit) {
      for (auto &[base, allocation] : launch.memory.allocations())
        for (ShadowPage &page : allocation.pages)
          if (page.races)
            visit(page.races.get(), ShadowPage::granules);
    });
}

/// Gives each fragment of a warp that can run a turn, with a seed one of them.
static bool runWarp(Block &block, Warp &warp, bool &ran) {
  Launch &launch = block.launch;
  // With a seed a turn has a random length, so that any two instructions of
  // two warps may come in either order.
  uint32_t slice = launch.seed ? 1 + launch.random() % 200 : 4096;
  uint32_t first = launch.seed ? launch.random() % warpLanes : 0;
  for (uint32_t i = 0; i < warpLanes; ++i) {
    Fragment &fragment = warp.fragments[(first + i) % warpLanes];
    if (fragment.state != Fragment::Ready)
      continue;
    ran = true;
    uint64_t polls = launch.polls, before = launch.instructions;
    bool good = launch.program.quick
                    ? runQuick(block, warp, fragment, slice)
                    : runFragment(block, warp, fragment, slice);
    if (!good)
      return false;
    // Whoever computes may still do what the others poll for. (A shorter turn
    // may just have ended before its next poll.)
    if (fragment.state == Fragment::Ready && launch.polls == polls &&
        launch.instructions - before >= computingTurn) {
      launch.polls = 0;
      fragment.polls = false;
    }
    if (launch.seed)
      break;
  }
  return true;
}

/// A random warp. For a spell at a time the four warps of one warpgroup get few
/// turns: some faults of order need one that falls far behind, which even
/// chances do not bring about. Every other spell is even.
uint32_t Block::pickWarp() {
  constexpr uint32_t groupWarps = 4, longestSpell = 2000, turnsOfSlow = 32;
  uint32_t count = static_cast<uint32_t>(warps.size());
  if (spellTurns-- == 0) {
    uint32_t groups = (count + groupWarps - 1) / groupWarps;
    slowGroup = slowGroup == noGroup ? launch.random() % groups : noGroup;
    spellTurns = launch.random() % longestSpell;
  }
  uint32_t pick = launch.random() % count;
  while (pick / groupWarps == slowGroup && launch.random() % turnsOfSlow != 0)
    pick = launch.random() % count;
  return pick;
}

bool Block::advance(uint32_t quantum) {
  uint64_t stop = launch.instructions + quantum;
  uint32_t count = static_cast<uint32_t>(warps.size());
  while (launch.instructions < stop) {
    compactRaces(*this);
    bool ran = false;
    for (uint32_t step = 0; step < count; ++step) {
      uint32_t pick = launch.seed ? pickWarp() : nextWarp;
      nextWarp = (nextWarp + 1) % count;
      if (!runWarp(*this, warps[pick], ran))
        return false;
      bool copy = !async.empty() && (!launch.seed || launch.random() % 4 == 0);
      if (copy && !completeAsync())
        return false;
    }
    if (launch.polls > maxPollsBeforeBreak && breakJoins(*this))
      launch.noteProgress();
    // Another block may have to act first.
    if (launch.polls > maxPollsBeforeBreak)
      return true;
    if (ran)
      continue;
    if (!async.empty()) {
      if (!completeAsync())
        return false;
      continue;
    }
    // A random pick may have missed the only warp that can run.
    if (!canRun() && !breakJoins(*this))
      return true;
  }
  return true;
}
