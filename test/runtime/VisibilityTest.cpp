//===- VisibilityTest.cpp - Tests of the count of visible pairs -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Visibility.h"

#include <gtest/gtest.h>

using namespace attn::runtime;

/// Every band over small lengths against counting one by one.
TEST(Visibility, EqualsCounting) {
  std::optional<int64_t> bounds[] = {std::nullopt, 0, 1, 3, 20};
  for (bool bottomRight : {false, true})
    for (auto left : bounds)
      for (auto right : bounds)
        for (int64_t queries = 0; queries < 9; ++queries)
          for (int64_t keys = 0; keys < 9; ++keys) {
            int64_t offset = bottomRight ? keys - queries : 0, count = 0;
            for (int64_t i = 0; i < queries; ++i)
              for (int64_t j = 0; j < keys; ++j)
                count += (!left || j >= i + offset - *left) &&
                         (!right || j <= i + offset + *right);
            Band band{bottomRight, left, right};
            EXPECT_EQ(countVisiblePairs(band, queries, keys), count)
                << queries << "x" << keys;
          }
}

TEST(Visibility, LongSequences) {
  int64_t n = int64_t(1) << 31;
  EXPECT_EQ(countVisiblePairs({false, std::nullopt, 0}, n, n), n / 2 * (n + 1));
}
