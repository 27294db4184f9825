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
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_CLOCK_H
#define ATTN_RUNTIME_EMULATOR_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attn::runtime::emulator {

class Clock {
public:
  uint32_t operator[](size_t agent) const {
    return agent < values_.size() ? values_[agent] : 0;
  }

  void raise(size_t agent, uint32_t epoch) {
    if (agent >= values_.size())
      values_.resize(agent + 1, 0);
    values_[agent] = std::max(values_[agent], epoch);
  }

  void join(const Clock &other) {
    if (other.values_.size() > values_.size())
      values_.resize(other.values_.size(), 0);
    for (size_t i = 0; i < other.values_.size(); ++i)
      values_[i] = std::max(values_[i], other.values_[i]);
  }

  /// What is known on both sides.
  void meet(const Clock &other) {
    values_.resize(std::min(values_.size(), other.values_.size()));
    for (size_t i = 0; i < values_.size(); ++i)
      values_[i] = std::min(values_[i], other.values_[i]);
  }

  void clear() { values_.clear(); }

private:
  std::vector<uint32_t> values_;
};

/// What one side of a synchronisation hands to the other: what it has seen,
/// the part of that which a proxy fence made visible to asynchronous copies
/// and wgmma, and the part whose mbarrier initialisations are visible to them.
struct Knowledge {
  Clock seen;
  Clock fenced;
  Clock initFenced;

  void join(const Knowledge &other) {
    seen.join(other.seen);
    fenced.join(other.fenced);
    initFenced.join(other.initFenced);
  }
  void meet(const Knowledge &other) {
    seen.meet(other.seen);
    fenced.meet(other.fenced);
    initFenced.meet(other.initFenced);
  }
  void clear() {
    seen.clear();
    fenced.clear();
    initFenced.clear();
  }
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_CLOCK_H
