//===- Race.cpp - Data races by happens-before ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Race.h"

using namespace attn::runtime::emulator;

/// States kept before the unreachable ones are dropped.
static constexpr size_t initialCompaction = 1 << 16;
/// Reads by other blocks that a granule remembers: K and V are read by many,
/// and one of them is enough to catch a later write.
static constexpr size_t maxForeignReads = 2;
static constexpr size_t maxAccesses = 96;

void RaceTable::clear() {
  states_.assign(1, State());
  compactAt_ = initialCompaction;
  ++generation_;
}

RaceTable::State RaceTable::stateOf(uint32_t number) const {
  State state = states_[number & indexMask];
  if (uint32_t lane = number >> indexBits)
    state.back().lane = static_cast<uint8_t>(lane - 1);
  return state;
}

void RaceTable::compact(const std::function<void(const Visit &)> &ranges) {
  std::vector<uint32_t> renumbered(states_.size(), 0);
  std::vector<State> kept(1);
  ranges([&](uint32_t *states, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      uint32_t index = states[i] & indexMask;
      if (!index)
        continue;
      uint32_t &number = renumbered[index];
      if (!number) {
        number = static_cast<uint32_t>(kept.size());
        kept.push_back(std::move(states_[index]));
      }
      states[i] = (states[i] & ~indexMask) | number;
    }
  });
  states_ = std::move(kept);
  ++generation_;
  compactAt_ = std::max(initialCompaction, 2 * states_.size());
}

RaceAccess::RaceAccess(RaceTable &table, const Access &access,
                       const Order &order, RaceCache *shared)
    : table_(table), access_(access), order_(order),
      cache_(shared ? shared : &own_) {
  if (cache_->table == &table && cache_->generation == table.generation_ &&
      cache_->inst == access.inst && cache_->epoch == access.epoch &&
      cache_->bytes == access.bytes && cache_->known == order.known)
    return;
  cache_->table = &table;
  cache_->generation = table.generation_;
  cache_->inst = access.inst;
  cache_->epoch = access.epoch;
  cache_->bytes = access.bytes;
  cache_->known = order.known;
  cache_->entries.clear();
}

static uint32_t lanesOf(uint8_t lane) {
  return lane < 32 ? 1u << lane : Clock::allLanes;
}

bool RaceAccess::isOrdered(const Access &other, Clock Knowledge::*clock) {
  if (other.block == access_.block)
    return other.epoch <= (order_.known->*clock)[other.agent] ||
           areLanesOrdered(other, order_.known->*clock);
  if (!order_.foreign)
    return false;
  auto it = order_.foreign->find(other.block);
  return it != order_.foreign->end() &&
         (it->second.*clock)
             .covers(other.agent, lanesOf(other.lane), other.epoch);
}

/// Where not all of the other warp is known.
bool RaceAccess::areLanesOrdered(const Access &other, const Clock &clock) {
  bool isCopy =
      order_.copyPieces && other.agent >= order_.firstCopyAgent &&
      other.agent - order_.firstCopyAgent < int(order_.copyPieces->size());
  if (!isCopy)
    return clock.covers(other.agent, lanesOf(other.lane), other.epoch);
  // Which lane read global memory is not kept.
  if (address_ == noAddress)
    return clock.coversAny(other.agent, other.epoch);
  isParticular_ = true;
  return clock.covers(other.agent, lanesOf(copyLane(other)), other.epoch);
}

/// The lane whose cp.async wrote the granule that is looked at.
uint8_t RaceAccess::copyLane(const Access &other) const {
  const std::vector<CopyPiece> &pieces =
      (*order_.copyPieces)[other.agent - order_.firstCopyAgent];
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece)
    if (piece->epoch == other.epoch && address_ + 4 > piece->address &&
        address_ < piece->address + piece->bytes)
      return piece->lane;
  return Access::wholeWarp;
}

bool RaceAccess::conflictsWith(const Access &other) {
  uint8_t both = access_.flags & other.flags;
  if (!((access_.flags | other.flags) & Access::Write) ||
      (both & Access::Atomic) || !(access_.bytes & other.bytes))
    return false;
  bool sameAgent = other.block == access_.block && other.agent == access_.agent;
  conflict.other = other;
  conflict.missingProxyFence = false;
  if (sameAgent && other.inst == access_.inst &&
      (other.lane != access_.lane || isCopy()) &&
      other.epoch == access_.epoch && (access_.flags & Access::Write)) {
    overlapsOwn = true;
    isParticular_ |= isCopy();
    return false;
  }
  if (other.block == access_.block && other.agent == order_.copyAgent)
    return conflictsWithCopy(other);
  if (isCopy() && other.block == access_.block &&
      other.agent == order_.warpAgent)
    return other.lane != order_.lane && !isOrdered(other, &Knowledge::seen);
  if (sameAgent && !(access_.flags & Access::Async))
    return other.lane != access_.lane && !isOrdered(other, &Knowledge::seen);
  if (!isOrdered(other, &Knowledge::seen))
    return true;
  // A write by ordinary stores reaches the async proxy only through a fence.
  if ((access_.flags & Access::Async) && (other.flags & Access::Write) &&
      !(other.flags & Access::Async) && !isOrdered(other, order_.fenced)) {
    conflict.missingProxyFence = true;
    return true;
  }
  return false;
}

/// With a cp.async of the same warp. A wait is for the copies of the lane that
/// waits; the other lanes learn of it when they synchronise.
bool RaceAccess::conflictsWithCopy(const Access &other) {
  if (isOrdered(other, &Knowledge::seen))
    return false;
  if (other.epoch > order_.copyWaited)
    return true;
  if (address_ == noAddress)
    return false;
  isParticular_ = true;
  return copyLane(other) != order_.lane;
}

bool RaceAccess::transition(uint32_t old, uint32_t &result) {
  auto &entries = cache_->entries;
  uint32_t laneBits =
      access_.lane < 32 ? (access_.lane + 1u) << RaceTable::indexBits : 0;
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].first == old) {
      result = entries[i].second | laneBits;
      std::swap(entries[i], entries[i / 2]);
      return true;
    }
  const RaceTable::State before = table_.stateOf(old);
  bool lanesMatter = false;
  isParticular_ = false;
  for (const Access &other : before) {
    if (conflictsWith(other))
      return false;
    lanesMatter |= other.lane < 32 && (other.agent == access_.agent ||
                                       other.agent == order_.warpAgent);
  }
  std::vector<Access> next;
  bool isWrite = access_.flags & Access::Write;
  size_t foreignReads = 0;
  for (const Access &other : before) {
    bool covered = !(other.bytes & ~access_.bytes);
    bool sameReader =
        other.block == access_.block && other.agent == access_.agent &&
        other.flags == access_.flags &&
        (other.lane == access_.lane || access_.lane == Access::wholeWarp);
    // An atomic does not hide an ordinary access: that one still conflicts
    // with other atomics.
    bool hides = isWrite && ((other.flags & Access::Atomic) ||
                             !(access_.flags & Access::Atomic));
    bool bothAtomic = other.flags & access_.flags & Access::Atomic;
    if (covered && (sameReader || (hides && !bothAtomic)))
      continue;
    if (other.block != access_.block && !(other.flags & Access::Write) &&
        ++foreignReads > maxForeignReads)
      continue;
    next.push_back(other);
  }
  if (next.size() >= maxAccesses)
    next.erase(next.begin());
  next.push_back(access_);
  uint32_t index = static_cast<uint32_t>(table_.states_.size());
  if (index > RaceTable::indexMask) {
    // Full before the next compaction: forget rather than be wrong.
    result = 0;
    return true;
  }
  table_.states_.push_back(std::move(next));
  result = index | laneBits;
  // Earlier accesses of the warp may conflict with one lane and not with
  // another.
  if (!isParticular_ && (!lanesMatter || (!laneBits && !isCopy())))
    entries.push_back({old, index});
  return true;
}

bool RaceAccess::apply(uint32_t *states, uint64_t count, uint64_t address) {
  uint32_t lastOld = UINT32_MAX, lastNew = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (states[i] != lastOld) {
      uint32_t old = states[i];
      address_ = address == noAddress ? noAddress : address + 4 * i;
      if (!transition(old, lastNew)) {
        granule = i;
        return false;
      }
      lastOld = isParticular_ ? UINT32_MAX : old;
    }
    states[i] = lastNew;
  }
  return true;
}
