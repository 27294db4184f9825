//===- TargetInfoTest.cpp - The table of targets is consistent ------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Target/TargetInfo.h"

#include <gtest/gtest.h>

using namespace mlir::attn;

TEST(TargetInfo, FindsByExactName) {
  ASSERT_NE(lookupTarget("sm_90a"), nullptr);
  EXPECT_EQ(lookupTarget("sm_90a")->major, 9);
  EXPECT_EQ(lookupTarget("sm_90"), nullptr);
  EXPECT_TRUE(lookupTarget("host")->isHost());
}

TEST(TargetInfo, SharedMemoryPerBlock) {
  const std::pair<const char *, int64_t> limits[] = {
      {"sm_80", 163},  {"sm_86", 99},    {"sm_89", 99},
      {"sm_90a", 227}, {"sm_100a", 227}, {"sm_120a", 99}};
  for (auto [name, kib] : limits)
    EXPECT_EQ(lookupTarget(name)->sharedBytesPerBlock, kib * 1024) << name;
}

TEST(TargetInfo, FeaturesImplyEachOther) {
  for (const TargetInfo &target : getTargets()) {
    EXPECT_EQ(target.wgmma, target.wgmmaShape.exists()) << target.name.str();
    EXPECT_EQ(target.tma, target.maxSwizzleBytes > 0) << target.name.str();
    EXPECT_EQ(target.setmaxnreg, target.registerBudgetStep > 0)
        << target.name.str();
    EXPECT_EQ(target.isHost(), target.ptxVersion == 0) << target.name.str();
    if (target.tma) {
      EXPECT_TRUE(target.cpAsync) << target.name.str();
      EXPECT_GE(target.ptxVersion, 80u) << target.name.str();
    }
  }
}

TEST(MatmulShape, AllowsStepsInRange) {
  const MatmulShape &shape = lookupTarget("sm_90a")->wgmmaShape;
  EXPECT_TRUE(shape.allowsN(80));
  EXPECT_TRUE(shape.allowsN(256));
  EXPECT_FALSE(shape.allowsN(84));
  EXPECT_FALSE(shape.allowsN(264));
  EXPECT_FALSE(MatmulShape().allowsN(8));
}
