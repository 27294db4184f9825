//===- Clock.cpp - What a clock knows of single lanes ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Clock.h"

using namespace attn::runtime::emulator;

/// The lanes of which that epoch is known.
uint32_t Clock::lanesOf(uint32_t agent, uint32_t epoch) const {
  uint32_t lanes = 0;
  for (const Lanes &entry : lanes_)
    if (entry.agent == agent && entry.epoch >= epoch)
      lanes |= entry.mask;
  return lanes;
}

/// What is known of every lane is known of all.
void Clock::raiseIfComplete(uint32_t agent) {
  uint32_t lanes = 0, least = UINT32_MAX;
  for (const Lanes &entry : lanes_)
    if (entry.agent == agent) {
      lanes |= entry.mask;
      least = std::min(least, entry.epoch);
    }
  if (lanes != allLanes)
    return;
  raise(agent, least);
  lanes_.erase(std::remove_if(lanes_.begin(), lanes_.end(),
                              [&](const Lanes &entry) {
                                return entry.agent == agent &&
                                       entry.epoch <= least;
                              }),
               lanes_.end());
}

void Clock::raiseLanes(uint32_t agent, uint32_t lanes, uint32_t epoch) {
  Lanes *same = nullptr;
  for (Lanes &entry : lanes_) {
    if (entry.agent != agent)
      continue;
    if (entry.epoch > epoch)
      lanes &= ~entry.mask;
    else if (entry.epoch < epoch)
      entry.mask &= ~lanes;
    else
      same = &entry;
  }
  if (!lanes)
    return;
  if (same)
    same->mask |= lanes;
  else
    lanes_.push_back({agent, lanes, epoch});
  lanes_.erase(std::remove_if(lanes_.begin(), lanes_.end(),
                              [](const Lanes &entry) { return !entry.mask; }),
               lanes_.end());
  raiseIfComplete(agent);
}

/// After the values: an entry may be old news by now.
void Clock::joinLanes(const Clock &other) {
  for (const Lanes &entry : other.lanes_)
    raise(entry.agent, entry.mask, entry.epoch);
  lanes_.erase(std::remove_if(lanes_.begin(), lanes_.end(),
                              [&](const Lanes &entry) {
                                return entry.epoch <= (*this)[entry.agent];
                              }),
               lanes_.end());
}

/// Of a lane both sides may know more than both know of all.
Clock Clock::meetLanes(const Clock &other) const {
  Clock result;
  auto keep = [&](uint32_t agent, uint32_t lanes, uint32_t epoch) {
    if (lanes && epoch > std::min((*this)[agent], other[agent]))
      result.raise(agent, lanes, epoch);
  };
  for (const Lanes &here : lanes_) {
    keep(here.agent, here.mask, std::min(here.epoch, other[here.agent]));
    for (const Lanes &there : other.lanes_)
      if (there.agent == here.agent)
        keep(here.agent, here.mask & there.mask,
             std::min(here.epoch, there.epoch));
  }
  for (const Lanes &there : other.lanes_)
    keep(there.agent, there.mask, std::min(there.epoch, (*this)[there.agent]));
  return result;
}
