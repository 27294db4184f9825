//===- ReferenceTest.cpp - Tests of the reference and the bar -------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Compare.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

using namespace attnc;
using attn::runtime::ElementType;
using attn::runtime::TensorSpec;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

HostTensor makeTensor(const char *name, std::vector<std::string> dims,
                      std::vector<int64_t> sizes,
                      ElementType element = ElementType::F16) {
  TensorSpec spec;
  spec.name = name;
  spec.element = element;
  spec.dims = std::move(dims);
  return makeHostTensor(spec, sizes);
}

/// A problem of layout bshd with its tensors.
struct Case {
  Problem problem;
  HostTensor q, k, v, o, lse;

  Case(int64_t batch, int64_t queries, int64_t keys, int64_t qoHeads,
       int64_t kvHeads, int64_t depth, ElementType element = ElementType::F16) {
    bool isDouble = element == ElementType::F64;
    problem.batch = batch;
    problem.queries = queries;
    problem.keys = keys;
    problem.qoHeads = qoHeads;
    problem.kvHeads = kvHeads;
    problem.headDimQk = problem.headDimVo = depth;
    problem.dtype = isDouble ? "f64" : "f16";
    problem.scale = 1 / std::sqrt(static_cast<double>(depth));
    std::vector<std::string> dims = {"b", "s", "h", "d"};
    q = makeTensor("q", dims, {batch, queries, qoHeads, depth}, element);
    k = makeTensor("k", dims, {batch, keys, kvHeads, depth}, element);
    v = makeTensor("v", dims, {batch, keys, kvHeads, depth}, element);
    o = makeTensor("o", dims, {batch, queries, qoHeads, depth}, element);
    lse = makeTensor("lse", {"b", "h", "s"}, {batch, qoHeads, queries},
                     isDouble ? ElementType::F64 : ElementType::F32);
    fillNormal(k, 1);
    fillNormal(v, 1);
  }

  void causal(bool bottomRight) {
    problem.mask.bottomRight = bottomRight;
    problem.mask.right = 0;
  }

  RowBlock block(int64_t batch, int64_t head) const {
    RowBlock block;
    block.batch = batch;
    block.head = head;
    for (int64_t i = 0; i < problem.queries; ++i)
      block.rows.push_back(i);
    return block;
  }

  RowBlock compute(int64_t batch = 0, int64_t head = 0) const {
    RowBlock result = block(batch, head);
    computeReference(problem, {&q, &k, &v}, result);
    return result;
  }

  /// Puts the reference itself, rounded, where a kernel's result would be.
  void fillOutputs() {
    for (int64_t b = 0; b < problem.batch; ++b)
      for (int64_t h = 0; h < problem.qoHeads; ++h) {
        RowBlock result = compute(b, h);
        for (int64_t i = 0; i < problem.queries; ++i) {
          for (int64_t c = 0; c < problem.headDimVo; ++c)
            o.store(b * o.stride("b") + i * o.stride("s") + h * o.stride("h") +
                        c,
                    result.o[i * problem.headDimVo + c]);
          lse.store((b * problem.qoHeads + h) * problem.queries + i,
                    result.lse[i]);
        }
      }
  }

  Comparison compare(int64_t checkRows = 0) const {
    return compareResults(problem, {&q, &k, &v}, o, &lse, checkRows, 0);
  }
};

} // namespace

TEST(Reference, ZeroQueriesGiveTheMean) {
  Case c(1, 3, 137, 1, 1, 16);
  RowBlock result = c.compute();
  for (int64_t column = 0; column < 16; ++column) {
    double mean = 0;
    for (int64_t j = 0; j < 137; ++j)
      mean += c.v.load(j * 16 + column) / 137;
    EXPECT_NEAR(result.o[column], mean, 1e-14);
  }
  EXPECT_NEAR(result.lse[2], std::log(137.0), 1e-14);
}

TEST(Reference, OfDoublesHasMoreDigits) {
  if (sizeof(long double) == sizeof(double))
    GTEST_SKIP();
  // In double precision the middle one would be lost.
  Case c(1, 1, 3, 1, 1, 8, ElementType::F64);
  c.v.store(0, 0x1p60);
  c.v.store(8, 1);
  c.v.store(16, -0x1p60);
  EXPECT_NEAR(c.compute().o[0], 1 / 3.0, 0.05);
}

TEST(Compare, DoublesAreHeldToTheirOwnBar) {
  Case c(1, 4, 37, 1, 1, 16, ElementType::F64);
  fillNormal(c.q, 5);
  c.fillOutputs();
  EXPECT_TRUE(c.compare().isWithinBar());
  double o = c.o.load(5), lse = c.lse.load(2);
  for (auto [change, isFine] :
       {std::make_pair(5e-15, true), std::make_pair(3e-14, false)}) {
    c.o.store(5, o + change);
    EXPECT_EQ(c.compare().isOWithinBar(), isFine) << change;
    c.o.store(5, o);
    // LSE is about 4 here.
    c.lse.store(2, lse + 4 * change);
    EXPECT_EQ(c.compare().isLseWithinBar(), isFine) << change;
    c.lse.store(2, lse);
  }
}

TEST(Reference, CausalAlignment) {
  Case c(1, 5, 2, 1, 1, 8);
  for (int64_t j = 0; j < 2; ++j)
    for (int64_t column = 0; column < 8; ++column)
      c.v.store(j * 8 + column, j);
  c.causal(/*bottomRight=*/true); // rows 0..2 see nothing
  RowBlock result = c.compute();
  for (int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(result.o[i * 8], i < 4 ? 0 : 0.5) << i;
    if (i < 3)
      EXPECT_EQ(result.lse[i], -kInf);
    else
      EXPECT_NEAR(result.lse[i], std::log(i - 2.0), 1e-15);
  }
  c.causal(/*bottomRight=*/false); // row i sees i + 1 keys of two
  result = c.compute();
  EXPECT_EQ(result.o[0], 0);
  EXPECT_EQ(result.o[8], 0.5);
  EXPECT_EQ(result.o[4 * 8], 0.5);
}

TEST(Reference, Window) {
  Case c(1, 6, 6, 1, 1, 8);
  for (int64_t j = 0; j < 6; ++j)
    for (int64_t column = 0; column < 8; ++column)
      c.v.store(j * 8 + column, j);
  c.problem.mask.left = 2;
  c.problem.mask.right = 0;
  RowBlock result = c.compute();
  EXPECT_NEAR(result.o[5 * 8], (3 + 4 + 5) / 3.0, 1e-14);
  EXPECT_NEAR(result.o[1 * 8], 0.5, 1e-15);
}

TEST(Reference, HeadsShareKeys) {
  Case c(2, 3, 4, 6, 2, 8);
  fillNormal(c.q, 5);
  // Query heads 3..5 use key head 1: with the keys of head 0 destroyed they
  // are as before.
  RowBlock before = c.compute(1, 4);
  for (int64_t j = 0; j < 4; ++j)
    for (int64_t column = 0; column < 8; ++column) {
      c.k.store(c.k.stride("b") + j * c.k.stride("s") + column, kNan);
      c.v.store(c.v.stride("b") + j * c.v.stride("s") + column, kNan);
    }
  EXPECT_EQ(c.compute(1, 4).o, before.o);
  EXPECT_TRUE(std::isnan(c.compute(1, 2).o[0]));
}

TEST(Reference, UnseenKeysDoNotMatter) {
  Case c(1, 96, 96, 1, 1, 8);
  fillNormal(c.q, 5);
  c.causal(true);
  RowBlock before = c.compute();
  for (int64_t i = 90 * 8; i < 96 * 8; ++i) {
    c.k.store(i, kNan);
    c.v.store(i, kInf);
  }
  RowBlock after = c.compute();
  for (int64_t i = 0; i < 90 * 8; ++i)
    EXPECT_EQ(before.o[i], after.o[i]);
  for (int64_t i = 90 * 8; i < 96 * 8; ++i)
    EXPECT_TRUE(std::isnan(after.o[i]));
  EXPECT_TRUE(std::isnan(after.lse[95]));
}

TEST(Reference, NoKeys) {
  Case c(1, 3, 0, 1, 1, 8);
  RowBlock result = c.compute();
  EXPECT_EQ(result.o, std::vector<double>(24, 0));
  EXPECT_EQ(result.lse, std::vector<double>(3, -kInf));
}

TEST(Reference, Softcap) {
  Case c(1, 1, 2, 1, 1, 8);
  for (int64_t i = 0; i < 8; ++i) {
    c.q.store(i, 10);
    c.k.store(i, 10);
    c.k.store(8 + i, 0);
  }
  c.problem.softcap = 2;
  double score = 2 * std::tanh(c.problem.scale * 800 / 2);
  EXPECT_NEAR(c.compute().lse[0], std::log(std::exp(score) + 1), 1e-6);
}

TEST(Reference, PlainIsCloseAndCoarser) {
  Case c(1, 64, 300, 1, 1, 64);
  fillNormal(c.q, 5);
  RowBlock exact = c.compute(), plain = c.block(0, 0);
  computePlain(c.problem, {&c.q, &c.k, &c.v}, kBF16, plain);
  double error = 0;
  for (size_t i = 0; i < exact.o.size(); ++i)
    error = std::max(error, std::fabs(exact.o[i] - plain.o[i]));
  EXPECT_GT(error, 1e-5);
  EXPECT_LT(error, 1e-2);
}

TEST(Compare, TheReferencePasses) {
  Case c(2, 70, 50, 4, 2, 16);
  fillNormal(c.q, 5);
  c.causal(true);
  c.fillOutputs();
  Comparison result = c.compare();
  EXPECT_TRUE(result.isWithinBar());
  EXPECT_EQ(result.rowsChecked, 2 * 4 * 70);
  EXPECT_EQ(result.nanCount, 0);
  EXPECT_GT(result.plainMaxAbsError, 0);
}

TEST(Compare, FindsOneWrongElement) {
  Case c(2, 70, 50, 4, 2, 16);
  fillNormal(c.q, 5);
  c.fillOutputs();
  // Batch 1, row 33, head 2, column 5.
  int64_t index =
      c.o.stride("b") + 33 * c.o.stride("s") + 2 * c.o.stride("h") + 5;
  double good = c.o.load(index);
  c.o.store(index, good + 0.01);
  Comparison result = c.compare();
  EXPECT_FALSE(result.isWithinBar());
  EXPECT_EQ(result.worst.at, (std::array<int64_t, 4>{1, 2, 33, 5}));
  EXPECT_NEAR(result.maxAbsError, 0.01, 1e-3);
  c.o.store(index, kNan);
  result = c.compare();
  EXPECT_FALSE(result.isWithinBar());
  EXPECT_EQ(result.nanCount, 1);
  EXPECT_EQ(result.specialMismatches, 1);
  EXPECT_EQ(result.firstMismatch->at, (std::array<int64_t, 4>{1, 2, 33, 5}));
}

TEST(Compare, NanWhereExpectedAndNowhereElse) {
  Case c(1, 8, 8, 1, 1, 8);
  fillNormal(c.q, 5);
  c.q.store(3 * 8, kNan);
  c.fillOutputs();
  Comparison result = c.compare();
  EXPECT_TRUE(result.isWithinBar());
  EXPECT_EQ(result.nanCount, 8);
  c.o.store(3 * 8 + 1, 0); // a NaN that was swallowed
  EXPECT_FALSE(c.compare().isWithinBar());
}

TEST(Compare, LseTolerance) {
  Case c(1, 4, 2000, 1, 1, 8);
  c.fillOutputs();
  double exact = c.lse.load(2);
  c.lse.store(2, exact * (1 + 0.5e-5));
  EXPECT_TRUE(c.compare().isWithinBar());
  c.lse.store(2, exact * (1 + 2e-5));
  Comparison result = c.compare();
  EXPECT_FALSE(result.isWithinBar());
  EXPECT_EQ(result.worstLse.at[2], 2);
  c.lse.store(2, -kInf);
  EXPECT_FALSE(c.compare().isWithinBar());
}

/// Scores that cancel: f32 loses 0.5 beside 9e8, so the LSE of one key is 0
/// there in place of 0.5.
TEST(Compare, LseOfCancellingScoresIsHeldToPlainF32) {
  Case c(1, 1, 1, 1, 1, 8);
  c.problem.scale = 1;
  const double query[] = {30000, 0.5, 30000}, key[] = {30000, 1, -30000};
  for (int64_t i = 0; i < 8; ++i) {
    c.q.store(i, i < 3 ? query[i] : 0);
    c.k.store(i, i < 3 ? key[i] : 0);
  }
  c.fillOutputs();
  EXPECT_EQ(c.lse.load(0), 0.5);
  EXPECT_EQ(c.compare().plainLseError, 0); // nothing depends on it
  for (auto [off, isFine] :
       {std::make_pair(0.9, true), std::make_pair(1.1, false)}) {
    c.lse.store(0, 0.5 - off);
    Comparison result = c.compare();
    EXPECT_EQ(result.plainLseError, 0.5);
    EXPECT_EQ(result.isLseWithinBar(), isFine) << off;
  }
  // No error of one row is an excuse for an infinity in it.
  c.lse.store(0, -kInf);
  EXPECT_FALSE(c.compare().isLseWithinBar());
}

TEST(Compare, EmptyRowsMustBeZero) {
  Case c(1, 8, 4, 1, 1, 8);
  c.causal(true);
  c.fillOutputs();
  EXPECT_TRUE(c.compare().isWithinBar());
  EXPECT_EQ(c.lse.load(0), -kInf);
  c.lse.store(0, -1e30);
  EXPECT_FALSE(c.compare().isWithinBar());
  c.fillOutputs();
  c.o.store(0, 0.25);
  EXPECT_FALSE(c.compare().isWithinBar());
}

TEST(Compare, SamplesRows) {
  Case c(3, 50, 20, 2, 1, 8);
  fillNormal(c.q, 5);
  c.fillOutputs();
  Comparison result = c.compare(10);
  EXPECT_EQ(result.rowsChecked, 10);
  EXPECT_EQ(result.rowsTotal, 300);
  EXPECT_TRUE(result.isWithinBar());
  // The first and the last row are always among them.
  c.o.store(c.o.count() - 1, 5);
  EXPECT_FALSE(c.compare(10).isWithinBar());
}

TEST(Compare, LargeProblemsAreSampled) {
  Problem problem = Case(1, 8, 8, 1, 1, 8).problem;
  EXPECT_EQ(affordableRows(problem), 0);
  problem.queries = problem.keys = 1000000;
  EXPECT_GE(affordableRows(problem), 64);
  EXPECT_LT(affordableRows(problem), problem.queries);
}

TEST(Compare, FastEnough) {
  Case c(2, 512, 512, 4, 4, 128);
  fillNormal(c.q, 5);
  auto start = std::chrono::steady_clock::now();
  (void)c.compare();
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  RecordProperty("milliseconds", static_cast<int>(seconds * 1000));
  EXPECT_LT(seconds, 10); // about 0.5 s on one core; CI machines are busy
}
