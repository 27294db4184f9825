//===- ClockTest.cpp - Clocks against one number a lane -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Clock.h"

#include <array>
#include <gtest/gtest.h>
#include <random>

using attn::runtime::emulator::Clock;

namespace {

constexpr uint32_t agents = 3, lanes = 32, epochs = 6;

/// What a clock means: an epoch for each lane of each agent.
using Plain = std::array<std::array<uint32_t, lanes>, agents>;

struct Both {
  Clock clock;
  Plain plain{};

  void raise(uint32_t agent, uint32_t mask, uint32_t epoch) {
    clock.raise(agent, mask, epoch);
    for (uint32_t lane = 0; lane < lanes; ++lane)
      if (mask >> lane & 1)
        plain[agent][lane] = std::max(plain[agent][lane], epoch);
  }

  void join(const Both &other) {
    clock.join(other.clock);
    for (uint32_t agent = 0; agent < agents; ++agent)
      for (uint32_t lane = 0; lane < lanes; ++lane)
        plain[agent][lane] =
            std::max(plain[agent][lane], other.plain[agent][lane]);
  }

  void meet(const Both &other) {
    clock.meet(other.clock);
    for (uint32_t agent = 0; agent < agents; ++agent)
      for (uint32_t lane = 0; lane < lanes; ++lane)
        plain[agent][lane] =
            std::min(plain[agent][lane], other.plain[agent][lane]);
  }

  /// Every question about single lanes, and some about several.
  void compare(std::mt19937 &random) const {
    for (uint32_t agent = 0; agent < agents; ++agent)
      for (uint32_t epoch = 1; epoch <= epochs; ++epoch) {
        uint32_t known = 0;
        for (uint32_t lane = 0; lane < lanes; ++lane)
          known |= uint32_t(plain[agent][lane] >= epoch) << lane;
        EXPECT_EQ(clock.coversAny(agent, epoch), known != 0);
        EXPECT_EQ(clock[agent] >= epoch, known == Clock::allLanes);
        for (uint32_t lane = 0; lane < lanes; ++lane)
          EXPECT_EQ(clock.covers(agent, 1u << lane, epoch), known >> lane & 1);
        uint32_t some = random() & random();
        if (some)
          EXPECT_EQ(clock.covers(agent, some, epoch), !(some & ~known));
      }
  }
};

TEST(Clock, IsOneNumberALane) {
  std::mt19937 random(1);
  std::array<Both, 4> clocks;
  for (unsigned step = 0; step < 4000; ++step) {
    Both &one = clocks[random() % clocks.size()];
    const Both &other = clocks[random() % clocks.size()];
    uint32_t masks[] = {1u << random() % lanes, uint32_t(random()),
                        uint32_t(random() | random() | random()),
                        Clock::allLanes};
    switch (random() % 5) {
    case 0:
      one.join(other);
      break;
    case 1:
      one.meet(other);
      break;
    case 2:
      one = random() % 8 ? one : Both();
      break;
    default:
      one.raise(random() % agents, masks[random() % 4], 1 + random() % epochs);
    }
    one.compare(random);
    ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step;
  }
}

} // namespace
