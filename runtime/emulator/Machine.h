//===- Machine.h - A launch, its blocks and their warps ---------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp is a set of fragments: lanes with a common pc. There is one until
// the lanes diverge; the parts meet again at the branch's post-dominator.
// Fragments are scheduled on their own, so a part that spins cannot starve
// the part it waits for.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_MACHINE_H
#define ATTN_RUNTIME_EMULATOR_MACHINE_H

#include "runtime/Device.h"
#include "runtime/emulator/Aligned.h"
#include "runtime/emulator/Clock.h"
#include "runtime/emulator/Layout.h"
#include "runtime/emulator/Memory.h"
#include "runtime/emulator/Program.h"
#include "runtime/emulator/Race.h"

#include <deque>
#include <functional>
#include <random>
#include <unordered_map>

namespace attn::runtime::emulator {

struct Block;
struct Launch;

constexpr uint32_t warpLanes = 32;
constexpr uint32_t warpgroupWarps = 4;
constexpr uint32_t namedBarriers = 16;

/// What a sleeping fragment waits for, for the report of a deadlock.
enum class Wait : uint8_t {
  None,
  Mbarrier,
  NamedBarrier,
  Warpgroup,
  Registers,
  Join,
};

struct Fragment {
  enum State : uint8_t { Free, Ready, Asleep };

  State state = Free;
  Wait wait = Wait::None;
  uint32_t pc = 0;
  uint32_t mask = 0;
  /// The innermost join of Warp::joins, and its pc (noJoin without one).
  int32_t join = -1;
  uint32_t joinPc = noJoin;
  /// The mbarrier's address, the named barrier, the registers asked for.
  uint64_t waitKey = 0;
  /// Whether it last looked in vain for what others do.
  bool polls = false;
};

/// A place where the lanes of `expected` meet.
struct Join {
  bool used = false;
  uint32_t pc = 0;
  uint32_t expected = 0;
  uint32_t arrived = 0;
  int32_t parent = -1;
};

/// A register that an asynchronous instruction owns: which wgmma, and the
/// group that must be waited for.
struct InFlight {
  uint32_t group = 0;
  uint32_t inst = 0;
  bool isAccumulator = false;
};

/// What some lanes of a warp know: no less than all do.
struct LaneKnowledge {
  uint32_t lanes = 0;
  Knowledge known;
  BlockKnowledge foreign;
};

/// What some lanes read that others had published.
struct Observed {
  uint32_t lanes = 0;
  BlockKnowledge known;
};

/// What the last fence of each lane covers: what they knew of others, and how
/// far each lane itself was.
struct MemoryFence {
  uint32_t lanes = 0;
  uint32_t epochs[warpLanes] = {};
  BlockKnowledge known;
};

struct Warp {
  Block *block = nullptr;
  uint32_t index = 0;
  AlignedWords registers;
  std::vector<uint32_t> predicates;
  /// Lanes that were launched, and those that have not ended.
  uint32_t launched = 0;
  uint32_t live = 0;
  Fragment fragments[warpLanes];
  std::vector<Join> joins;
  /// Each lane's local memory, one after the other.
  std::vector<uint8_t> local;
  std::vector<uint8_t> localWritten;

  /// Registers per thread that the warp holds.
  uint32_t registerBudget = 0;
  /// The same once a setmaxnreg set it; before, the assembler may spill.
  uint32_t liveLimit = UINT32_MAX;

  // wgmma groups: the number of the open one, and the last one waited for.
  uint32_t wgmmaGroup = 1;
  uint32_t wgmmaRetired = 0;
  /// The last group that has a wgmma.
  uint32_t wgmmaIssued = 0;
  // By index in Program::tracked.
  std::vector<InFlight> inFlight;
  std::vector<uint64_t> touched;

  // cp.async: the epoch of the copies that no commit covers yet, the epochs of
  // the groups that were committed but not waited for, the lanes that issued
  // copies, the last epoch that has some, and up to which each lane waited for
  // its own.
  uint32_t copyEpoch = 1;
  std::vector<uint32_t> copyGroups;
  uint32_t copyLanes = 0;
  uint32_t copyIssued = 0;
  uint32_t copyLine = 0;
  uint32_t copyWaited = 0;

  // Bulk groups: the number of the open one, the last that has copies and the
  // last waited for.
  uint32_t bulkGroup = 1;
  uint32_t bulkIssued = 0;
  uint32_t bulkWaited = 0;
  /// The lanes that issued bulk stores.
  uint32_t bulkLanes = 0;

  // Races; see Sync.h. The number of the current epoch, what all lanes know
  // (of the warp itself, what they did before they last synchronised), and
  // what some know beyond that.
  uint32_t epoch = 1;
  Knowledge known;
  BlockKnowledge foreign;
  std::vector<LaneKnowledge> parts;
  /// The last accessLane() found another lane's write of the same instruction.
  bool overlapsOwn = false;
  RaceCache raceCache;
  /// What relaxed reads saw, by address, which the next fence takes over.
  std::map<uint64_t, Observed> observed;
  MemoryFence fence;

  /// The lines of the latest synchronising instructions, for messages.
  uint32_t recentSync[4] = {0, 0, 0, 0};
};

struct Mbarrier {
  uint32_t count = 0;
  uint32_t pending = 0;
  int64_t transactions = 0;
  /// Completed phases.
  uint32_t phase = 0;
  uint32_t agent = 0;
  uint32_t initLine = 0;
  /// Asynchronous copies that will still report here, and the epoch of the
  /// last one.
  uint32_t copiesInFlight = 0;
  uint32_t lastCopyEpoch = 0;
  uint32_t lastCopyLine = 0;
  Knowledge collecting;
  Knowledge released;
  /// Must be visible to whoever uses it, and to the async proxy.
  Access init;
};

struct NamedBarrier {
  uint32_t expected = 0;
  uint32_t arrived = 0;
  uint32_t line = 0;
  /// barrier.red: the combined value so far.
  uint32_t reduction = 0;
  struct Sleeper {
    uint32_t warp;
    uint32_t fragment;
    const Inst *inst;
  };
  std::vector<Sleeper> sleepers;
  Knowledge collecting;
};

/// The four warps of a warpgroup meet for a wgmma, and each must execute the
/// same setmaxnregs.
struct Warpgroup {
  uint32_t arrived = 0;
  uint32_t pc = 0;
  Fragment *fragments[warpgroupWarps] = {nullptr, nullptr, nullptr, nullptr};
  uint32_t registersArrived = 0;
  uint32_t registersPc = 0;
};

/// Work that a block started and that finishes later, in any order.
struct AsyncOp {
  uint32_t warp = 0;
  uint32_t inst = 0;
  /// Of the warp's bulk groups, for stores; 0 for others.
  uint32_t bulkGroup = 0;
  /// False after a fault.
  std::function<bool()> run;
};

struct Block {
  Block(Launch &launch, uint32_t linear);

  Launch &launch;
  uint32_t linear = 0;
  Dim3 index;
  std::vector<Warp> warps;
  uint32_t liveWarps = 0;
  bool deadlocked = false;

  uint32_t sharedBytes = 0;
  std::vector<uint8_t> shared;
  std::vector<uint8_t> sharedWritten;
  std::vector<uint32_t> sharedRaces;
  RaceTable raceTable;
  /// What the cp.async of each warp wrote lately.
  std::vector<std::vector<CopyPiece>> copyPieces;

  std::map<uint32_t, Mbarrier> mbarriers;
  uint32_t nextAgent = 0;
  NamedBarrier barriers[namedBarriers];
  std::vector<Warpgroup> warpgroups;
  std::deque<AsyncOp> async;
  /// Registers that setmaxnreg.dec gave back.
  int64_t registerPool = 0;
  uint32_t nextWarp = 0;
  /// With a seed, the warpgroup that gets few turns, and the turns until that
  /// changes.
  static constexpr uint32_t noGroup = ~0u;
  uint32_t slowGroup = noGroup, spellTurns = 200;

  // Agents: see Clock.h.
  uint32_t warpAgent(uint32_t warp) const { return warp; }
  uint32_t wgmmaAgent(uint32_t warp) const {
    return static_cast<uint32_t>(warps.size()) + warp / warpgroupWarps;
  }
  uint32_t copyAgent(uint32_t warp) const {
    return static_cast<uint32_t>(2 * warps.size()) + warp;
  }
  /// A bulk store's reading of shared memory, which ends before its writing.
  uint32_t bulkAgent(uint32_t warp) const {
    return static_cast<uint32_t>(3 * warps.size()) + warp;
  }
  uint32_t bulkWriteAgent(uint32_t warp) const {
    return static_cast<uint32_t>(4 * warps.size()) + warp;
  }
  uint32_t firstMbarrierAgent() const {
    return static_cast<uint32_t>(5 * warps.size());
  }

  /// Runs until nothing can, or for about `quantum` instructions. False after
  /// a fault.
  bool advance(uint32_t quantum);
  uint32_t pickWarp();
  bool finished() const { return liveWarps == 0 && async.empty(); }
  bool canRun() const;
  bool completeAsync();

  void wake(Warp &warp, Fragment &fragment, bool next);
  void wakeWaiters(Wait wait, uint64_t key);
  std::string describeState() const;
};

struct ModuleMemory {
  std::vector<uint8_t> constants;
};

struct Launch {
  Launch(const Program &program, GlobalMemory &memory,
         const ModuleMemory &module, Statistics &statistics)
      : program(program), memory(memory), module(module),
        statistics(statistics) {}

  const Program &program;
  GlobalMemory &memory;
  const ModuleMemory &module;
  Statistics &statistics;
  Dim3 grid, threads;
  uint32_t dynamicSharedBytes = 0;
  std::vector<uint8_t> parameters;
  bool checks = true;
  /// Whether anything is counted; never false with checks.
  bool counts = true;
  uint64_t seed = 0;
  uint32_t multiprocessors = 1;
  uint64_t maxInstructions = 0;
  uint32_t registersAtLaunch = 0;

  std::mt19937_64 random;
  /// By index into Program::insts.
  std::vector<BankTraffic> banks;
  RaceTable globalRaces;
  uint64_t instructions = 0;
  /// `instructions`, when something last changed for others, and how often
  /// somebody looked in vain since then.
  uint64_t lastProgress = 0;
  uint64_t polls = 0;
  std::string fault;
  /// Synchronisation through global memory, by address.
  std::unordered_map<uint64_t, BlockKnowledge> releases;

  void noteProgress() {
    lastProgress = instructions;
    polls = 0;
  }

  Status run();
};

/// Where an instruction executes.
struct Context {
  Launch &launch;
  Block &block;
  Warp &warp;
  Fragment *fragment;
  uint32_t mask;

  uint32_t instIndex(const Inst &inst) const {
    return static_cast<uint32_t>(&inst - launch.program.insts.data());
  }
  bool checks() const { return launch.checks; }
  bool counts() const { return launch.counts; }
  bool allLanes() const { return mask == 0xffffffffu; }

  /// Lanes of a source; 32 words or 64.
  const uint32_t *source(const Operand &operand) const {
    return operand.constant ? operand.constant
                            : warp.registers.data() + operand.slot;
  }
  const uint64_t *source64(const Operand &operand) const {
    return reinterpret_cast<const uint64_t *>(source(operand));
  }
  uint32_t *destination(const Operand &operand) const {
    return warp.registers.data() + operand.slot;
  }
  uint64_t *destination64(const Operand &operand) const {
    return reinterpret_cast<uint64_t *>(destination(operand));
  }
  uint32_t predicate(const Operand &operand) const {
    uint32_t bits =
        operand.constant ? operand.constant[0] : warp.predicates[operand.slot];
    return operand.negated ? ~bits : bits;
  }
  void setPredicate(const Operand &operand, uint32_t bits) const {
    if (operand.kind != Operand::Predicate)
      return;
    uint32_t &target = warp.predicates[operand.slot];
    target = (target & ~mask) | (bits & mask);
  }
  /// The addresses that an address operand gives, offset included.
  void addresses(const Operand &operand, uint64_t (&result)[warpLanes]) const;
  /// The value of an operand that must be the same in every active lane.
  bool uniform(const Inst &inst, const Operand &operand, uint64_t &value,
               const char *what) const;

  /// Leaves the message; lane -1 is the whole warp.
  Step fault(const Inst &inst, int lane, const std::string &message) const;
  /// Every live lane of the warp must be here.
  bool converged(const Inst &inst) const;
  void noteSync(const Inst &inst) const;
};

/// "warp 3, lane 5" or "warp 3".
std::string describeAccess(const Launch &launch, const Block &block,
                           const Access &access);
std::string hex(uint64_t value);
unsigned firstLane(uint32_t mask);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_MACHINE_H
