//===- CpAsync.cpp - cp.async without .bulk -------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes move at once; for the checks both accesses belong to an agent of
// their own until the group is waited for. Groups belong to a thread, and so
// does a wait: other lanes know that a copy is over once they synchronised with
// the lane that waited. The lanes of a warp that copy are taken to commit and
// to wait together: a commit or wait of only some of them does nothing.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/CpAsync.h"
#include "runtime/emulator/Barriers.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Sync.h"
#include "runtime/emulator/Traffic.h"

#include <algorithm>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

namespace {

/// A warp remembers as many pieces that its lanes copied before it forgets
/// those that are over.
constexpr size_t maxPieces = 1 << 14;

std::string number(uint64_t value) { return std::to_string(value); }

/// One instruction. Operands: shared, global, and the size of the source or a
/// predicate that says to ignore it. Inst::immediate is the size.
class AsyncCopy {
public:
  AsyncCopy(Context &context, const Inst &inst)
      : context_(context), inst_(inst),
        bytes_(static_cast<uint32_t>(inst.immediate)),
        writer_(context, inst, access(Access::Write)),
        reader_(context, inst, access(0)) {}

  Step run();

private:
  SharedAccess access(uint8_t flags) const {
    Warp &warp = context_.warp;
    return {static_cast<uint16_t>(context_.block.copyAgent(warp.index)),
            warp.copyEpoch, flags, &warp.known, "cp.async"};
  }
  bool copyLane(unsigned lane);
  bool sourceSize(unsigned lane, uint32_t &size);
  bool readSource(unsigned lane, uint32_t size, uint8_t *data);
  bool noteWrite(unsigned lane, uint64_t to);
  void count() const;

  Context &context_;
  const Inst &inst_;
  uint32_t bytes_;
  SharedChecker writer_;
  GlobalChecker reader_;
  uint64_t targets_[warpLanes] = {}, sources_[warpLanes] = {};
  uint32_t sizes_[warpLanes] = {};
};

bool AsyncCopy::sourceSize(unsigned lane, uint32_t &size) {
  size = bytes_;
  if (inst_.operands.size() <= 2)
    return true;
  const Operand &third = inst_.operands[2];
  if (third.kind == Operand::Predicate)
    size = context_.predicate(third) >> lane & 1 ? 0 : bytes_;
  else
    size = static_cast<uint32_t>(laneValue(context_, third, lane));
  if (size <= bytes_)
    return true;
  context_.fault(inst_, static_cast<int>(lane),
                 "expected a source size of at most " + number(bytes_) +
                     ", but got " + number(size));
  return false;
}

bool AsyncCopy::readSource(unsigned lane, uint32_t size, uint8_t *data) {
  if (!size)
    return true;
  uint64_t from = sources_[lane];
  Allocation *allocation =
      globalInBounds(context_, inst_, lane, from, size, "cp.async");
  if (!allocation)
    return false;
  allocation->traffic.readBytes += size;
  reader_.setLane(lane);
  if (context_.checks() && !reader_.apply(*allocation, from, size))
    return false;
  std::memcpy(data, allocation->at(from), size);
  return true;
}

/// Drops what all lanes of the warp know to be over.
void forgetPieces(const Warp &warp, std::vector<CopyPiece> &pieces) {
  uint32_t over = warp.known.seen[warp.block->copyAgent(warp.index)];
  auto isOver = [&](const CopyPiece &piece) { return piece.epoch <= over; };
  pieces.erase(std::remove_if(pieces.begin(), pieces.end(), isOver),
               pieces.end());
}

bool AsyncCopy::noteWrite(unsigned lane, uint64_t to) {
  if (!context_.checks())
    return true;
  Warp &warp = context_.warp;
  writer_.setLane(lane);
  if (!writer_.apply(to, bytes_))
    return false;
  std::vector<CopyPiece> &pieces = context_.block.copyPieces[warp.index];
  pieces.push_back({static_cast<uint32_t>(to), bytes_, warp.copyEpoch,
                    static_cast<uint8_t>(lane)});
  if (pieces.size() > maxPieces)
    forgetPieces(warp, pieces);
  return true;
}

bool AsyncCopy::copyLane(unsigned lane) {
  int laneNumber = static_cast<int>(lane);
  uint64_t to = targets_[lane] = laneShared(context_, inst_.operands[0], lane);
  uint64_t from = sources_[lane] =
      laneAddress(context_, inst_.operands[1], lane);
  if (!sourceSize(lane, sizes_[lane]))
    return false;
  if (to % bytes_ || from % bytes_) {
    context_.fault(inst_, laneNumber,
                   "misaligned cp.async: expected multiples of " +
                       number(bytes_) + ", but got shared " + hex(to) +
                       " and global " + hex(from));
    return false;
  }
  uint8_t data[16] = {};
  if (!sharedInBounds(context_, inst_, laneNumber, to, bytes_, "cp.async") ||
      !readSource(lane, sizes_[lane], data) || !noteWrite(lane, to))
    return false;
  uint8_t *target = context_.block.shared.data() + to;
  if (context_.checks() && writer_.overlapsOwn() &&
      std::memcmp(target, data, bytes_) != 0) {
    context_.fault(inst_, laneNumber,
                   "data race: another cp.async of the same group writes "
                   "different bytes to shared address " +
                       hex(to));
    return false;
  }
  std::memcpy(target, data, bytes_);
  return true;
}

/// A lane that reads nothing moves nothing in global memory.
void AsyncCopy::count() const {
  uint32_t left = 0;
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    left |= uint32_t(sizes_[lane] != 0) << lane;
  while (left) {
    uint32_t size = sizes_[firstLane(left)], same = 0;
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      same |= uint32_t(sizes_[lane] == size) << lane;
    countGlobal(context_, left & same, sources_, size, AccessKind::Read);
    left &= ~same;
  }
  countShared(context_, inst_, context_.mask, targets_, bytes_,
              AccessKind::Write);
}

Step AsyncCopy::run() {
  for (uint32_t rest = context_.mask; rest; rest &= rest - 1)
    if (!copyLane(firstLane(rest)))
      return Step::Fault;
  count();
  Warp &warp = context_.warp;
  warp.copyLanes |= context_.mask;
  warp.copyIssued = warp.copyEpoch;
  warp.copyLine = inst_.line;
  return Step::Next;
}

Step copy(Context &context, const Inst &inst) {
  return AsyncCopy(context, inst).run();
}

/// Whether all lanes that copy take part.
bool isWhole(const Context &context) {
  return !(context.warp.copyLanes & context.warp.live & ~context.mask);
}

Step commit(Context &context, const Inst &inst) {
  Warp &warp = context.warp;
  context.noteSync(inst);
  if (context.checks() && isWhole(context))
    warp.copyGroups.push_back(warp.copyEpoch++);
  return Step::Next;
}

/// Inst::immediate groups may stay under way; -1 is wait_all, which commits.
Step wait(Context &context, const Inst &inst) {
  Warp &warp = context.warp;
  context.noteSync(inst);
  if (!context.checks() || !isWhole(context))
    return Step::Next;
  if (inst.immediate < 0)
    warp.copyGroups.push_back(warp.copyEpoch++);
  size_t pending = static_cast<size_t>(std::max<int64_t>(inst.immediate, 0));
  if (warp.copyGroups.size() <= pending)
    return Step::Next;
  auto end = warp.copyGroups.end() - static_cast<ptrdiff_t>(pending);
  warp.copyWaited = end[-1];
  warp.copyGroups.erase(warp.copyGroups.begin(), end);
  return Step::Next;
}

/// The mbarrier gets an arrival of each lane when the lane's own copies so far
/// are done. Without .noinc it also expects one more, which cancels out.
Step arriveOnCopies(Context &context, const Inst &inst) {
  Warp &warp = context.warp;
  context.noteSync(inst);
  Publisher publisher(warp);
  for (uint32_t rest = context.mask; rest; rest &= rest - 1) {
    unsigned lane = firstLane(rest);
    uint64_t address = laneShared(context, inst.operands[0], lane);
    Mbarrier *barrier =
        findMbarrier(context, inst, static_cast<int>(lane), address);
    if (!barrier)
      return Step::Fault;
    if (!inst.immediate)
      ++barrier->pending;
    if (context.checks()) {
      publisher.add(*barrier, lane);
      barrier->collecting.seen.raise(context.block.copyAgent(warp.index),
                                     (1u << lane) | ~warp.copyLanes,
                                     warp.copyEpoch);
    }
    if (!arrive(context, inst, static_cast<int>(lane),
                static_cast<uint32_t>(address), 1, 0))
      return Step::Fault;
  }
  if (context.checks()) {
    // Copies issued from now on are not covered. They may still belong to the
    // group of those before.
    ++warp.copyEpoch;
    nextEpoch(warp);
  }
  return Step::Next;
}

bool decodeCopy(Decoder &d, Inst &inst) {
  int cache = d.takeOneOf({"ca", "cg"});
  if (cache < 0)
    return d.fail("unknown operation '." + std::string(d.peek()) +
                  "' of 'cp.async'");
  if (d.takeOneOf({"shared", "shared::cta"}) < 0)
    return d.fail("expected .shared in 'cp.async'");
  if (!d.need("global"))
    return false;
  bool policy = d.take("L2::cache_hint");
  d.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  inst.execute = copy;
  if (!d.address(ptx::Space::Shared) || !d.address(ptx::Space::Global) ||
      !d.immediate(inst.immediate, 4, 16))
    return false;
  bool good = inst.immediate == 16 ||
              (!cache && (inst.immediate == 4 || inst.immediate == 8));
  if (!good)
    return d.fail("unsupported size " +
                  number(static_cast<uint64_t>(inst.immediate)) +
                  " of 'cp.async'");
  if (d.remaining() > size_t(policy) &&
      (!d.predicateOrSource(Type::U32) ||
       !d.checkImmediate(2, 0, inst.immediate)))
    return false;
  return !policy || d.policy();
}

} // namespace

bool attn::runtime::emulator::decodeCpAsync(Decoder &d, Inst &inst) {
  if (d.take("commit_group")) {
    inst.execute = commit;
    return true;
  }
  if (d.take("wait_group")) {
    inst.execute = wait;
    return d.immediate(inst.immediate, 0, 1 << 20);
  }
  if (d.take("wait_all")) {
    inst.immediate = -1;
    inst.execute = wait;
    return true;
  }
  if (d.take("mbarrier")) {
    inst.execute = arriveOnCopies;
    if (!d.need("arrive"))
      return false;
    inst.immediate = d.take("noinc");
    if (d.takeOneOf({"shared", "shared::cta"}) >= 0)
      inst.space = ptx::Space::Shared;
    return d.need("b64") && d.address();
  }
  return decodeCopy(d, inst);
}
