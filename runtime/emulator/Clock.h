//===- Clock.h - Vector clocks of a block's agents --------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An agent is whatever accesses memory in its own time: a warp, the wgmmas of
// a warpgroup, the cp.async of a warp, its bulk groups, and the copies that
// complete on one mbarrier. An agent's accesses are numbered by epochs; an
// access (agent, epoch) happened before a point with clock c if epoch <=
// c[agent].
//
// A thread publishes what it did itself, not what the other lanes of its warp
// did meanwhile. So a clock may hold more of some lanes of an agent than of
// all; there is nothing of the kind where warps synchronise as a whole.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_CLOCK_H
#define ATTN_RUNTIME_EMULATOR_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attn::runtime::emulator {

class Clock {
public:
  static constexpr uint32_t allLanes = UINT32_MAX;

  /// Up to which epoch the accesses of all lanes happened before.
  uint32_t operator[](size_t agent) const {
    return agent < values_.size() ? values_[agent] : 0;
  }

  void raise(size_t agent, uint32_t epoch) {
    if (agent >= values_.size())
      values_.resize(agent + 1, 0);
    values_[agent] = std::max(values_[agent], epoch);
  }

  /// The same of some lanes.
  void raise(size_t agent, uint32_t lanes, uint32_t epoch) {
    if (epoch <= (*this)[agent])
      return;
    if (lanes == allLanes)
      raise(agent, epoch);
    else
      raiseLanes(static_cast<uint32_t>(agent), lanes, epoch);
  }

  /// Whether accesses of an epoch by all of these lanes happened before.
  bool covers(size_t agent, uint32_t lanes, uint32_t epoch) const {
    return epoch <= (*this)[agent] ||
           (!lanes_.empty() &&
            !(lanes & ~lanesOf(static_cast<uint32_t>(agent), epoch)));
  }
  /// Whether those of some lane did.
  bool coversAny(size_t agent, uint32_t epoch) const {
    return epoch <= (*this)[agent] ||
           (!lanes_.empty() && lanesOf(static_cast<uint32_t>(agent), epoch));
  }

  void join(const Clock &other) {
    if (other.values_.size() > values_.size())
      values_.resize(other.values_.size(), 0);
    for (size_t i = 0; i < other.values_.size(); ++i)
      values_[i] = std::max(values_[i], other.values_[i]);
    if (!lanes_.empty() || !other.lanes_.empty())
      joinLanes(other);
  }

  /// What is known on both sides.
  void meet(const Clock &other) {
    Clock lanes;
    if (!lanes_.empty() || !other.lanes_.empty())
      lanes = meetLanes(other);
    values_.resize(std::min(values_.size(), other.values_.size()));
    for (size_t i = 0; i < values_.size(); ++i)
      values_[i] = std::min(values_[i], other.values_[i]);
    lanes_.clear();
    if (!lanes.values_.empty() || !lanes.lanes_.empty())
      join(lanes);
  }

  void clear() {
    values_.clear();
    lanes_.clear();
  }

private:
  /// Of these lanes more is known than of all.
  struct Lanes {
    uint32_t agent;
    uint32_t mask;
    uint32_t epoch;
  };

  uint32_t lanesOf(uint32_t agent, uint32_t epoch) const;
  void raiseLanes(uint32_t agent, uint32_t lanes, uint32_t epoch);
  void joinLanes(const Clock &other);
  Clock meetLanes(const Clock &other) const;
  void raiseIfComplete(uint32_t agent);

  std::vector<uint32_t> values_;
  /// A lane is in one entry of an agent at most.
  std::vector<Lanes> lanes_;
};

/// What one side of a synchronisation hands to the other: what it has seen,
/// the parts of that which a proxy fence made visible to asynchronous copies
/// and wgmma (by memory, for a fence may be for one only), and the part whose
/// mbarrier initialisations are visible to them.
struct Knowledge {
  Clock seen;
  Clock fencedShared;
  Clock fencedGlobal;
  Clock initFenced;

  void join(const Knowledge &other) {
    seen.join(other.seen);
    fencedShared.join(other.fencedShared);
    fencedGlobal.join(other.fencedGlobal);
    initFenced.join(other.initFenced);
  }
  void meet(const Knowledge &other) {
    seen.meet(other.seen);
    fencedShared.meet(other.fencedShared);
    fencedGlobal.meet(other.fencedGlobal);
    initFenced.meet(other.initFenced);
  }
  void clear() {
    seen.clear();
    fencedShared.clear();
    fencedGlobal.clear();
    initFenced.clear();
  }
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_CLOCK_H
