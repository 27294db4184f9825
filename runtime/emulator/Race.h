//===- Race.h - Data races by happens-before --------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every 4 bytes of memory have a state: the accesses that a later one may
// still conflict with. A tile of thousands of granules sees the same few
// accesses, so states are interned: a granule holds a number, and an access
// checks each distinct old state once and then replaces numbers.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_RACE_H
#define ATTN_RUNTIME_EMULATOR_RACE_H

#include "runtime/emulator/Clock.h"

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

namespace attn::runtime::emulator {

/// What is known of the agents of several blocks.
using BlockKnowledge = std::map<uint32_t, Knowledge>;

struct Access {
  /// In place of a lane: all lanes of the warp together, and together in a
  /// stmatrix or ldmatrix, of which the second must not read what the first or
  /// some lane wrote before the lanes synchronised.
  static constexpr uint8_t wholeWarp = 255;
  static constexpr uint8_t matrixStore = 254;
  static constexpr uint8_t matrixLoad = 253;
  enum Flags : uint8_t {
    Write = 1,
    Atomic = 2,
    /// By the async proxy: TMA, bulk copies, wgmma.
    Async = 4,
  };

  uint32_t block = 0;
  uint32_t epoch = 0;
  /// Index into Program::insts.
  uint32_t inst = 0;
  uint16_t agent = 0;
  uint8_t lane = wholeWarp;
  uint8_t flags = 0;
  /// Which of the granule's 4 bytes.
  uint8_t bytes = 15;
};

/// What one lane's cp.async writes.
struct CopyPiece {
  uint32_t address = 0;
  uint32_t bytes = 0;
  uint32_t epoch = 0;
  uint8_t lane = 0;
};

/// What the accessing side knows of others.
struct Order {
  static constexpr uint16_t noAgent = UINT16_MAX;

  const Knowledge *known = nullptr;
  /// Of other blocks' agents, by block.
  const BlockKnowledge *foreign = nullptr;
  /// Which part of it a proxy fence covers, of this memory.
  Clock Knowledge::*fenced = &Knowledge::fencedShared;

  // Of an access by a warp or by its cp.async: the two agents, the lane that
  // asks, and the copies that it waited for as far as they are its own.
  uint16_t warpAgent = noAgent, copyAgent = noAgent;
  uint8_t lane = Access::wholeWarp;
  uint32_t copyWaited = 0;

  /// What each warp's cp.async wrote: agents from `firstCopyAgent` on.
  const std::vector<std::vector<CopyPiece>> *copyPieces = nullptr;
  uint16_t firstCopyAgent = 0;
};

struct Conflict {
  Access other;
  /// The other access is ordered, but no proxy fence made it visible.
  bool missingProxyFence = false;
};

class RaceTable;

/// Transitions that the lanes of one instruction share.
struct RaceCache {
  const RaceTable *table = nullptr;
  uint64_t generation = 0;
  uint32_t inst = 0, epoch = 0;
  uint8_t bytes = 0;
  /// Lanes that know different things do not share their answers.
  const Knowledge *known = nullptr;
  /// Old and new state, most recent first.
  std::vector<std::pair<uint32_t, uint32_t>> entries;
};

/// One access, applied to any number of ranges.
class RaceAccess {
public:
  /// With `shared` the lanes of an instruction, and its executions of one
  /// epoch, find their transitions together.
  RaceAccess(RaceTable &table, const Access &access, const Order &order,
             RaceCache *shared = nullptr);

  /// False if it conflicts with an earlier one; see `conflict` and `granule`.
  /// `address` is that of the first granule, in shared memory.
  static constexpr uint64_t noAddress = UINT64_MAX;
  bool apply(uint32_t *states, uint64_t count, uint64_t address = noAddress);

  /// Of a cp.async: which lane of the warp asks.
  void setLane(uint8_t lane) { order_.lane = lane; }

  Conflict conflict;
  /// Where in the last range.
  uint64_t granule = 0;
  /// Another lane wrote there in the same instruction: a race only if the
  /// values differ.
  bool overlapsOwn = false;

private:
  bool transition(uint32_t old, uint32_t &result);
  bool conflictsWith(const Access &other);
  bool conflictsWithCopy(const Access &other);
  bool isCopy() const { return access_.agent == order_.copyAgent; }
  bool isOrdered(const Access &other, Clock Knowledge::*clock);
  bool areLanesOrdered(const Access &other, const Clock &clock);
  uint8_t copyLane(const Access &other) const;

  RaceTable &table_;
  Access access_;
  Order order_;
  RaceCache own_;
  RaceCache *cache_;
  /// Of the granule that is looked at.
  uint64_t address_ = noAddress;
  /// The answer holds for this granule and lane only.
  bool isParticular_ = false;
};

class RaceTable {
public:
  RaceTable() { clear(); }
  void clear();

  bool needsCompaction() const { return states_.size() > compactAt_; }
  /// Renumbers: `ranges` must call back with every array of states in use.
  using Visit = std::function<void(uint32_t *states, uint64_t count)>;
  void compact(const std::function<void(const Visit &)> &ranges);

private:
  friend class RaceAccess;
  using State = std::vector<Access>;

  // A granule's number is an index of states_ and, above it, 1 + the lane of
  // the state's last access where that is one of 32: so the lanes of a store
  // share a state.
  static constexpr unsigned indexBits = 26;
  static constexpr uint32_t indexMask = (1u << indexBits) - 1;

  State stateOf(uint32_t number) const;

  std::vector<State> states_;
  size_t compactAt_ = 0;
  /// Changes when numbers do.
  uint64_t generation_ = 0;
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_RACE_H
