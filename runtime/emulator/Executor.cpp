//===- Executor.cpp - Runs blocks and warps -------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Check.h"
#include "runtime/emulator/Flow.h"

#include <algorithm>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

/// Warp instructions that may pass without anything that another warp could
/// see; then the launch is taken for hung.
static constexpr uint64_t maxIdleInstructions = 1'000'000'000;
/// The same while every warp that can run only polls.
static constexpr uint64_t maxPolls = 10'000;
/// After as many polls lanes no longer wait for the rest of their warp: what
/// the rest polls for may be theirs to do.
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
    warp.known.seen.raise(index, 1);
    warp.laneEpoch = 1;
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
  }
}

// Joins and divergence.

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

/// The fragment stands at its join's pc.
static void arriveAtJoin(Warp &warp, Fragment &fragment) {
  while (fragment.state == Fragment::Ready && fragment.pc == fragment.joinPc) {
    int32_t index = fragment.join;
    warp.joins[index].arrived |= fragment.mask;
    fragment.state = Fragment::Free;
    if (!tryComplete(warp, index, fragment))
      return;
  }
}

static void endLanes(Warp &warp, Fragment &fragment, uint32_t mask) {
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

/// Lets the lanes that wait at joins go on by themselves; true if there were
/// any.
static bool breakJoins(Block &block) {
  bool any = false;
  for (Warp &warp : block.warps)
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
    if (!runFragment(block, warp, fragment, slice))
      return false;
    // Whoever computes may still do what the others poll for. (A shorter turn
    // may just have ended before its next poll.)
    if (fragment.state == Fragment::Ready && launch.polls == polls &&
        launch.instructions - before >= computingTurn)
      launch.polls = 0;
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

// The launch.

/// As the assembler would choose: all registers of a multiprocessor, shared
/// by the blocks that are to fit.
static uint32_t registersPerThread(const Program &program, uint32_t threads) {
  uint32_t blocks = std::max(1u, program.minBlocksPerMultiprocessor);
  uint32_t rounded = (threads + warpLanes - 1) / warpLanes * warpLanes;
  uint32_t limit = 65536 / std::max(1u, rounded * blocks) / 8 * 8;
  limit = std::min(limit, 255u);
  return program.maxRegisters ? std::min(limit, program.maxRegisters) : limit;
}

static std::string
deadlockReport(const std::vector<std::unique_ptr<Block>> &resident) {
  std::string report = "deadlock: no warp can run";
  size_t shown = 0;
  for (const std::unique_ptr<Block> &block : resident) {
    if (++shown > 2) {
      report +=
          "\n  and " + std::to_string(resident.size() - 2) + " more blocks";
      break;
    }
    report += block->describeState();
  }
  return report;
}

Status Launch::run() {
  uint64_t total = uint64_t(grid.x) * grid.y * grid.z;
  uint32_t threadCount = threads.x * threads.y * threads.z;
  registersAtLaunch = registersPerThread(program, threadCount);
  random.seed(seed);
  banks.assign(program.insts.size(), BankTraffic());
  ++statistics.launches;
  memory.beginLaunch();
  std::vector<std::unique_ptr<Block>> resident;
  uint64_t next = 0;
  size_t wanted = seed ? 4 : 1;
  uint32_t quantum = seed ? 2000 : 1 << 20;
  if (maxInstructions)
    quantum =
        static_cast<uint32_t>(std::min<uint64_t>(quantum, maxInstructions + 1));
  auto failure = [&](const std::string &message) {
    return Status::launchFailed("kernel '" + program.name + "': " + message);
  };
  while (next < total || !resident.empty()) {
    while (next < total && resident.size() < wanted) {
      resident.push_back(
          std::make_unique<Block>(*this, static_cast<uint32_t>(next++)));
      ++statistics.blocks;
    }
    size_t pick = seed ? random() % resident.size() : 0;
    bool anyRan = false;
    for (size_t i = 0; i < resident.size() && !anyRan; ++i) {
      Block &block = *resident[(pick + i) % resident.size()];
      if (!block.canRun())
        continue;
      anyRan = true;
      if (!block.advance(quantum))
        return failure(fault);
      if (block.finished()) {
        std::string problem = checkBlockEnd(block);
        if (!problem.empty())
          return failure(problem);
        resident.erase(resident.begin() +
                       static_cast<ptrdiff_t>((pick + i) % resident.size()));
      } else if (!seed) {
        // It waits or spins: let others run beside it.
        std::rotate(resident.begin(), resident.begin() + 1, resident.end());
        wanted = std::min<size_t>(multiprocessors, resident.size() + 1);
      }
    }
    if (!anyRan) {
      if (next < total && resident.size() < multiprocessors) {
        wanted = resident.size() + 1;
        continue;
      }
      return failure(deadlockReport(resident));
    }
    uint64_t idle = instructions - lastProgress;
    if (idle > maxIdleInstructions || polls > maxPolls)
      return failure(deadlockReport(resident) +
                     "\n  (warps spin, but nothing changed for " +
                     std::to_string(idle) + " instructions)");
    if (maxInstructions && instructions > maxInstructions)
      return failure("gave up after " + std::to_string(instructions) +
                     " warp instructions");
  }
  statistics.instructions += instructions;
  for (size_t i = 0; i < banks.size(); ++i)
    if (banks[i].wavefronts)
      statistics.banksByLine[program.name][program.insts[i].line] += banks[i];
  return Status::ok();
}
