//===- FaultTest.h - A fault and its correct twin ---------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each check has a kernel that commits the fault and one that does the same
// thing right. The first must be caught with a message that says what and
// where; the second must pass, in the fixed order and in random ones.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_EMULATOR_FAULTTEST_H
#define ATTN_TEST_EMULATOR_FAULTTEST_H

#include "TestKernel.h"

#include <gtest/gtest.h>
#include <ostream>

namespace attn::test {

struct FaultCase {
  const char *name;
  /// Part of the message.
  const char *message;
  std::string faulty;
  std::string correct;
  uint32_t threads = 32;
  uint32_t blocks = 1;
  bool freeInput = false;
};

inline void PrintTo(const FaultCase &c, std::ostream *stream) {
  *stream << c.name;
}

class FaultTest : public testing::TestWithParam<FaultCase> {};

inline std::string
faultCaseName(const testing::TestParamInfo<FaultCase> &info) {
  return info.param.name;
}

inline void checkFault(const FaultCase &c) {
  KernelConfig config;
  config.threads = c.threads;
  config.blocks = c.blocks;
  for (uint64_t seed : {0, 1, 2, 3, 4}) {
    config.seed = seed;
    config.freeInput = c.freeInput;
    KernelResult faulty = runKernel(c.faulty, config);
    EXPECT_EQ(faulty.status.code(), StatusCode::LaunchFailed)
        << "seed " << seed << ": the fault went unseen; "
        << faulty.status.message();
    EXPECT_NE(faulty.status.message().find(c.message), std::string::npos)
        << "seed " << seed << ": " << faulty.status.message();
    EXPECT_NE(faulty.status.message().find("ptx line"), std::string::npos)
        << faulty.status.message();
    config.freeInput = false;
    KernelResult correct = runKernel(c.correct, config);
    EXPECT_TRUE(correct.status.isOk())
        << "seed " << seed << ": " << correct.status.message();
  }
}

} // namespace attn::test

#endif // ATTN_TEST_EMULATOR_FAULTTEST_H
