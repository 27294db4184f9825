//===- Check.cpp - The checks that instructions share ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Check.h"
#include "runtime/emulator/Flow.h"
#include "runtime/emulator/Sync.h"

#include <algorithm>
#include <cstring>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

// Registers.

/// The declared name of the register at a slot.
static std::string registerName(const Program &program, uint32_t slot) {
  std::string best;
  uint32_t base = 0;
  for (const auto &[first, name] : program.registerNames)
    if (first <= slot && first >= base) {
      base = first;
      best = name;
    }
  return best + (best.empty() ? "" : std::to_string((slot - base) / 32));
}

static bool checkInFlight(Context &context, const Inst &inst) {
  Warp &warp = context.warp;
  const Program &program = context.launch.program;
  for (uint16_t index : inst.tracked) {
    const InFlight &owner = warp.inFlight[index];
    if (owner.group <= warp.wgmmaRetired)
      continue;
    const char *hint = owner.group == warp.wgmmaGroup
                           ? "its group is not even committed"
                           : "no wgmma.wait_group retired its group";
    context.fault(inst, -1,
                  "register " + registerName(program, program.tracked[index]) +
                      " is touched while the wgmma of ptx line " +
                      std::to_string(program.insts[owner.inst].line) +
                      " is in flight: " + hint);
    return false;
  }
  return true;
}

bool attn::runtime::emulator::checkRegisters(Context &context,
                                             const Inst &inst) {
  Warp &warp = context.warp;
  // Between matrix instructions the assembler may reorder; at one the
  // accumulators and operands are where they are.
  if (inst.cls == InstClass::Matrix && inst.liveRegisters > warp.liveLimit) {
    context.fault(inst, -1,
                  "register use beyond the budget: " +
                      std::to_string(inst.liveRegisters) +
                      " registers of wgmmas are live, but the warp has " +
                      std::to_string(warp.liveLimit) + " per thread");
    return false;
  }
  if (inst.tracked.empty() || (inst.flags & TracksRegisters))
    return true;
  if (warp.wgmmaIssued > warp.wgmmaRetired && !checkInFlight(context, inst))
    return false;
  for (uint16_t index : inst.tracked)
    warp.touched[index / 64] |= uint64_t(1) << (index % 64);
  return true;
}

std::string attn::runtime::emulator::checkBlockEnd(const Block &block) {
  if (!block.launch.checks)
    return {};
  // An arrive at a named barrier that nobody waits for is no fault: ping-pong
  // schedules end with one.
  std::string where = "block " + std::to_string(block.linear) + " ended ";
  for (const Warp &warp : block.warps) {
    bool waited = warp.copyWaited >= warp.copyIssued;
    for (const Warp &other : block.warps)
      waited |= knowsOver(other, block.copyAgent(warp.index), warp.copyLanes,
                          warp.copyIssued);
    if (!waited)
      return where + "without a wait for the cp.async of ptx line " +
             std::to_string(warp.copyLine) + " by warp " +
             std::to_string(warp.index) + " (expected cp.async.wait_group)";
  }
  for (const auto &[address, barrier] : block.mbarriers) {
    // Otherwise the copy may write into the shared memory of the next block.
    bool waited = !barrier.lastCopyEpoch;
    for (const Warp &warp : block.warps)
      waited |= knowsOver(warp, barrier.agent, Clock::allLanes,
                          barrier.lastCopyEpoch);
    if (!waited)
      return where + "without a wait for the copy of ptx line " +
             std::to_string(barrier.lastCopyLine) + " to mbarrier " +
             hex(address);
    if (barrier.transactions)
      return where + "while mbarrier " + hex(address) + " (init at ptx line " +
             std::to_string(barrier.initLine) + ") expects " +
             std::to_string(barrier.transactions) + " more bytes than arrived";
  }
  return {};
}

bool attn::runtime::emulator::checkExit(Context &context, const Inst &inst) {
  const Warp &warp = context.warp;
  if (context.mask != warp.live)
    return true;
  if (warp.bulkIssued > warp.bulkWaited) {
    context.fault(inst, -1,
                  "the warp ends while a bulk store may still read shared "
                  "memory: expected cp.async.bulk.wait_group");
    return false;
  }
  if (warp.wgmmaIssued > warp.wgmmaRetired) {
    context.fault(inst, -1,
                  "the warp ends while a wgmma is in flight: expected "
                  "wgmma.wait_group");
    return false;
  }
  return true;
}

// Memory.

ptx::Space attn::runtime::emulator::genericSpace(uint64_t address,
                                                 uint64_t &offset) {
  uint64_t window = address & ~(windowBytes - 1);
  offset = address & (windowBytes - 1);
  if (window == sharedWindow)
    return ptx::Space::Shared;
  if (window == localWindow)
    return ptx::Space::Local;
  if (window == paramWindow)
    return ptx::Space::Param;
  if (window == constWindow)
    return ptx::Space::Const;
  offset = address;
  return ptx::Space::Global;
}

static const char *kindName(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
  case AccessKind::StrongRead:
    return "read";
  case AccessKind::Write:
  case AccessKind::StrongWrite:
    return "write";
  case AccessKind::Atomic:
    return "atomic access";
  }
  return "access";
}

bool attn::runtime::emulator::sharedInBounds(Context &context, const Inst &inst,
                                             int lane, uint64_t address,
                                             uint64_t bytes, const char *what) {
  const Block &block = context.block;
  if (address >= sharedReservedBytes && bytes <= block.sharedBytes &&
      address <= block.sharedBytes - bytes)
    return true;
  context.fault(inst, lane,
                std::string("out-of-bounds ") + what + " of " +
                    std::to_string(bytes) + " bytes at shared address " +
                    hex(address) + ": the block has " +
                    hex(sharedReservedBytes) + " to " + hex(block.sharedBytes));
  return false;
}

/// What an access lacks that comes after a cp.async; empty after another one.
static std::string copyHint(const Context &context, const Access &other) {
  const Block &block = context.block;
  uint32_t first = block.copyAgent(0);
  if (other.block != block.linear || other.agent < first ||
      other.agent >= first + block.warps.size())
    return {};
  const Warp &issuer = block.warps[other.agent - first];
  if (other.epoch <= issuer.copyWaited)
    return ": after its wait, which is for the own copies of a thread, "
           "expected "
           "a barrier";
  if (other.epoch == issuer.copyEpoch)
    return ": expected cp.async.commit_group and a wait for it";
  return ": expected a cp.async.wait_group that covers its group";
}

/// Where some lanes of the other warp are known to be over, but not that one.
static std::string laneHint(const Context &context, const Knowledge &known,
                            const Access &other) {
  if (other.block != context.block.linear ||
      other.agent >= context.block.warps.size() ||
      !known.seen.coversAny(other.agent, other.epoch))
    return {};
  return ": only other lanes of that warp published what they did, expected "
         "bar.warp.sync before";
}

static std::string raceMessage(Context &context, const char *what,
                               const char *space, uint64_t address,
                               const Knowledge &known,
                               const Conflict &conflict) {
  std::string other =
      describeAccess(context.launch, context.block, conflict.other);
  if (conflict.missingProxyFence)
    return std::string(what) + " of " + space + " address " + hex(address) +
           " by the async proxy may not see " + other +
           ": expected fence.proxy.async in between";
  return std::string("data race: ") + what + " of " + space + " address " +
         hex(address) + " is not ordered after " + other +
         copyHint(context, conflict.other) +
         laneHint(context, known, conflict.other);
}

static Access accessOf(Context &context, const Inst &inst,
                       const SharedAccess &access) {
  Access result;
  result.block = context.block.linear;
  result.epoch = access.epoch;
  result.inst = context.instIndex(inst);
  result.agent = access.agent;
  result.flags = access.flags;
  result.lane = access.lane;
  return result;
}

static Order orderOf(Context &context, const Knowledge *known, uint16_t agent,
                     uint8_t lane) {
  const Warp &warp = context.warp;
  Order order;
  order.known = known;
  order.foreign = &warp.foreign;
  order.copyPieces = &context.block.copyPieces;
  order.firstCopyAgent = static_cast<uint16_t>(context.block.copyAgent(0));
  uint32_t copyAgent = context.block.copyAgent(warp.index);
  if (agent == warp.index || agent == copyAgent) {
    order.warpAgent = static_cast<uint16_t>(warp.index);
    order.copyAgent = static_cast<uint16_t>(copyAgent);
    order.lane = lane;
    order.copyWaited = warp.copyWaited;
  }
  return order;
}

static Order orderOf(Context &context, const SharedAccess &access,
                     Clock Knowledge::*fenced) {
  Order order = orderOf(context, access.known, access.agent, access.lane);
  order.fenced = fenced;
  if (access.foreign)
    order.foreign = access.foreign;
  return order;
}

SharedChecker::SharedChecker(Context &context, const Inst &inst,
                             const SharedAccess &access)
    : context_(context), inst_(inst), access_(access),
      race_(context.block.raceTable, accessOf(context, inst, access),
            orderOf(context, access, &Knowledge::fencedShared)) {}

bool SharedChecker::apply(uint64_t address, uint64_t bytes) {
  Block &block = context_.block;
  if (access_.flags & Access::Write) {
    std::memset(block.sharedWritten.data() + address, 1, bytes);
  } else if (const void *zero =
                 std::memchr(block.sharedWritten.data() + address, 0, bytes)) {
    uint64_t at = static_cast<uint64_t>(static_cast<const uint8_t *>(zero) -
                                        block.sharedWritten.data());
    context_.fault(inst_, -1,
                   std::string(access_.what) + " reads shared address " +
                       hex(at) + ", which was never written");
    return false;
  }
  uint64_t first = address / 4;
  uint64_t count = (address + bytes + 3) / 4 - first;
  race_.overlapsOwn = false;
  if (race_.apply(block.sharedRaces.data() + first, count, first * 4))
    return true;
  context_.fault(inst_, -1,
                 raceMessage(context_, access_.what, "shared",
                             (first + race_.granule) * 4, *access_.known,
                             race_.conflict));
  return false;
}

GlobalChecker::GlobalChecker(Context &context, const Inst &inst,
                             const SharedAccess &access)
    : context_(context), inst_(inst), access_(access),
      race_(context.launch.globalRaces, accessOf(context, inst, access),
            orderOf(context, access, &Knowledge::fencedGlobal)) {}

bool GlobalChecker::apply(Allocation &allocation, uint64_t address,
                          uint64_t bytes) {
  if (access_.flags & Access::Write) {
    allocation.markWritten(address, bytes);
  } else if (uint64_t at = allocation.firstUnwritten(address, bytes)) {
    context_.fault(inst_, -1,
                   std::string(access_.what) + " reads global address " +
                       hex(at) + ", which was never written");
    return false;
  }
  while (bytes) {
    uint64_t granules = 0;
    uint32_t *states = allocation.raceStates(address, granules);
    uint64_t wanted = (address % 4 + bytes + 3) / 4;
    uint64_t count = std::min(granules, wanted);
    if (!race_.apply(states, count)) {
      context_.fault(inst_, -1,
                     raceMessage(context_, access_.what, "global",
                                 (address / 4 + race_.granule) * 4,
                                 *access_.known, race_.conflict));
      return false;
    }
    uint64_t done = std::min(bytes, count * 4 - address % 4);
    address += done;
    bytes -= done;
  }
  return true;
}

/// One lane of an ordinary access, to one or more granules of which it may
/// cover the first and the last in part.
static bool laneRace(Context &context, const Inst &inst, RaceTable &table,
                     uint32_t *states, uint64_t address, uint32_t bytes,
                     uint32_t lane, AccessKind kind, const char *space) {
  Warp &warp = context.warp;
  Access access;
  access.block = context.block.linear;
  access.epoch = warp.epoch;
  access.inst = context.instIndex(inst);
  access.agent = static_cast<uint16_t>(warp.index);
  access.lane = static_cast<uint8_t>(lane);
  if (writes(kind))
    access.flags |= Access::Write;
  if (isStrong(kind))
    access.flags |= Access::Atomic;
  uint32_t in = static_cast<uint32_t>(address % 4);
  if (bytes < 4)
    access.bytes = static_cast<uint8_t>(((1u << bytes) - 1) << in);
  const Knowledge &known = knowledgeOf(warp, lane);
  Order order = orderOf(context, &known, access.agent, access.lane);
  order.foreign = &foreignOf(warp, lane);
  RaceAccess race(table, access, order, &warp.raceCache);
  bool good =
      race.apply(states, (in + bytes + 3) / 4,
                 &table == &context.block.raceTable ? address / 4 * 4
                                                    : RaceAccess::noAddress);
  warp.overlapsOwn = race.overlapsOwn;
  if (good)
    return true;
  context.fault(inst, static_cast<int>(lane),
                raceMessage(context, kindName(kind), space,
                            (address / 4 + race.granule) * 4, known,
                            race.conflict));
  return false;
}

static uint8_t *accessShared(Context &context, const Inst &inst,
                             uint64_t address, uint32_t bytes, uint32_t lane,
                             AccessKind kind) {
  Block &block = context.block;
  if (!sharedInBounds(context, inst, static_cast<int>(lane), address, bytes,
                      kindName(kind)))
    return nullptr;
  if (!context.checks())
    return block.shared.data() + address;
  auto it =
      block.mbarriers.upper_bound(static_cast<uint32_t>(address + bytes - 1));
  if (it != block.mbarriers.begin() && std::prev(it)->first + 8 > address) {
    context.fault(inst, static_cast<int>(lane),
                  std::string("ordinary ") + kindName(kind) +
                      " of the mbarrier at shared address " +
                      hex(std::prev(it)->first));
    return nullptr;
  }
  uint8_t *written = block.sharedWritten.data() + address;
  if (reads(kind) && std::memchr(written, 0, bytes)) {
    context.fault(inst, static_cast<int>(lane),
                  std::string(kindName(kind)) + " of shared address " +
                      hex(address) + " (" + std::to_string(bytes) +
                      " bytes), which was never written");
    return nullptr;
  }
  if (writes(kind))
    std::memset(written, 1, bytes);
  if (!laneRace(context, inst, block.raceTable,
                block.sharedRaces.data() + address / 4, address, bytes, lane,
                kind, "shared"))
    return nullptr;
  return block.shared.data() + address;
}

Allocation *
attn::runtime::emulator::globalInBounds(Context &context, const Inst &inst,
                                        uint32_t lane, uint64_t address,
                                        uint32_t bytes, const char *what) {
  GlobalMemory &memory = context.launch.memory;
  Allocation *allocation = memory.find(address, bytes);
  if (!allocation)
    context.fault(inst, static_cast<int>(lane),
                  std::string("out-of-bounds ") + what + " of " +
                      std::to_string(bytes) + " bytes at global address " +
                      hex(address) + ", which is" +
                      memory.describe(address, bytes));
  return allocation;
}

static uint8_t *accessGlobal(Context &context, const Inst &inst,
                             uint64_t address, uint32_t bytes, uint32_t lane,
                             AccessKind kind) {
  Launch &launch = context.launch;
  Allocation *allocation =
      globalInBounds(context, inst, lane, address, bytes, kindName(kind));
  if (!allocation)
    return nullptr;
  Traffic &traffic = allocation->traffic;
  if (reads(kind))
    traffic.readBytes += bytes;
  if (writes(kind))
    traffic.writtenBytes += bytes;
  if (!context.checks())
    return allocation->at(address);
  if (reads(kind)) {
    if (uint64_t at = allocation->firstUnwritten(address, bytes)) {
      context.fault(inst, static_cast<int>(lane),
                    std::string(kindName(kind)) + " of global address " +
                        hex(at) +
                        ", which was never written, in the "
                        "allocation of " +
                        std::to_string(allocation->size) + " bytes at " +
                        hex(allocation->base));
      return nullptr;
    }
  }
  if (writes(kind))
    allocation->markWritten(address, bytes);
  // Alignment keeps the access within one page.
  uint64_t granules = 0;
  uint32_t *states = allocation->raceStates(address, granules);
  if (!laneRace(context, inst, launch.globalRaces, states, address, bytes, lane,
                kind, "global"))
    return nullptr;
  return allocation->at(address);
}

static uint8_t *accessLocal(Context &context, const Inst &inst,
                            uint64_t address, uint32_t bytes, uint32_t lane,
                            AccessKind kind) {
  Warp &warp = context.warp;
  uint32_t size = context.launch.program.localBytes;
  if (bytes > size || address > size - bytes) {
    context.fault(inst, static_cast<int>(lane),
                  std::string("out-of-bounds ") + kindName(kind) + " of " +
                      std::to_string(bytes) + " bytes at local address " +
                      hex(address) + ": the thread has " +
                      std::to_string(size) + " bytes");
    return nullptr;
  }
  uint64_t at = uint64_t(lane) * size + address;
  context.launch.statistics.local.readBytes += reads(kind) ? bytes : 0;
  context.launch.statistics.local.writtenBytes += writes(kind) ? bytes : 0;
  if (context.checks()) {
    if (reads(kind) && std::memchr(warp.localWritten.data() + at, 0, bytes)) {
      context.fault(inst, static_cast<int>(lane),
                    "read of local address " + hex(address) +
                        ", which was never written");
      return nullptr;
    }
    if (writes(kind))
      std::memset(warp.localWritten.data() + at, 1, bytes);
  }
  return warp.local.data() + at;
}

/// Parameters and constants: read-only bytes of the launch or the module.
static uint8_t *accessReadOnly(Context &context, const Inst &inst,
                               const std::vector<uint8_t> &storage,
                               const char *name, uint64_t address,
                               uint32_t bytes, uint32_t lane, AccessKind kind) {
  if (writes(kind) || bytes > storage.size() ||
      address > storage.size() - bytes) {
    context.fault(inst, static_cast<int>(lane),
                  std::string(reads(kind) ? "out-of-bounds " : "illegal ") +
                      kindName(kind) + " of " + std::to_string(bytes) +
                      " bytes at " + name + " address " + hex(address) +
                      ": there are " + std::to_string(storage.size()) +
                      " bytes");
    return nullptr;
  }
  return const_cast<uint8_t *>(storage.data()) + address;
}

uint8_t *attn::runtime::emulator::accessLane(Context &context, const Inst &inst,
                                             ptx::Space space, uint64_t address,
                                             uint32_t bytes, uint32_t lane,
                                             AccessKind kind) {
  if (space == ptx::Space::None)
    space = genericSpace(address, address);
  if (address % bytes) {
    context.fault(inst, static_cast<int>(lane),
                  std::string("misaligned ") + kindName(kind) +
                      ": expected an address that is a multiple of " +
                      std::to_string(bytes) + ", but got " + hex(address));
    return nullptr;
  }
  switch (space) {
  case ptx::Space::Shared:
    return accessShared(context, inst, address, bytes, lane, kind);
  case ptx::Space::Local:
    return accessLocal(context, inst, address, bytes, lane, kind);
  case ptx::Space::Param:
    return accessReadOnly(context, inst, context.launch.parameters, "param",
                          address, bytes, lane, kind);
  case ptx::Space::Const:
    return accessReadOnly(context, inst, context.launch.module.constants,
                          "const", address, bytes, lane, kind);
  case ptx::Space::Global:
  case ptx::Space::None:
    break;
  }
  return accessGlobal(context, inst, address, bytes, lane, kind);
}
