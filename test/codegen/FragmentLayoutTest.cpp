//===- FragmentLayoutTest.cpp - Threads share a vector evenly -------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/FragmentLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <map>

using namespace mlir;
using namespace mlir::attn_gpu;

namespace {

class FragmentLayoutTest : public testing::Test {
protected:
  FragmentLayout getLayout(ArrayRef<int64_t> shape, Type element,
                           int64_t warps) {
    return *FragmentLayout::get(VectorType::get(shape, element), warps);
  }

  MLIRContext context;
  Type f32 = Float32Type::get(&context);
  Type bf16 = BFloat16Type::get(&context);
};

/// The first row and column that a thread of a worker holds.
int64_t getFirstRow(int64_t thread) {
  return thread / 32 * 16 + thread % 32 / 4;
}
int64_t getFirstColumn(int64_t thread) { return thread % 4 * 2; }

TEST_F(FragmentLayoutTest, EveryElementHasOneHolder) {
  for (int64_t warps : {1, 4})
    for (int64_t slabs : {1, 2})
      for (int64_t columns : {8, 80, 256}) {
        int64_t rows = 16 * warps * slabs;
        FragmentLayout layout = getLayout({rows, columns}, f32, warps);
        std::map<std::pair<int64_t, int64_t>, int> holders;
        for (int64_t thread = 0; thread < 32 * warps; ++thread)
          for (int64_t i = 0; i < layout.getNumElements(); ++i)
            ++holders[{getFirstRow(thread) + layout.getRow(i),
                       getFirstColumn(thread) + layout.getColumn(i)}];
        EXPECT_EQ(holders.size(), static_cast<size_t>(rows * columns));
        for (auto &[element, count] : holders) {
          ASSERT_EQ(count, 1);
          ASSERT_LT(element.first, rows);
          ASSERT_LT(element.second, columns);
        }
      }
}

// PTX ISA, "Register fragments for wgmma.mma_async.m64nNk16": element i of the
// accumulator.
TEST_F(FragmentLayoutTest, AccumulatorIsThatOfTheInstruction) {
  FragmentLayout layout = getLayout({64, 80}, f32, 4);
  ASSERT_EQ(layout.getNumElements(), 40);
  for (int64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(layout.getRow(i), 8 * (i / 2 % 2));
    EXPECT_EQ(layout.getColumn(i), 8 * (i / 4) + i % 2);
  }
}

// ... and of A in registers: four registers of two elements per 16 columns.
TEST_F(FragmentLayoutTest, PackedRegistersAreTheAOperand) {
  FragmentLayout layout = getLayout({64, 80}, bf16, 4);
  ASSERT_TRUE(layout.isPacked());
  ASSERT_EQ(layout.getNumRegisters(), 20);
  for (int64_t r = 0; r < 20; ++r)
    for (int64_t half : {0, 1}) {
      int64_t step = r / 4, a = r % 4;
      EXPECT_EQ(layout.getRow(2 * r + half), a % 2 * 8);
      EXPECT_EQ(layout.getColumn(2 * r + half), 16 * step + a / 2 * 8 + half);
    }
}

TEST_F(FragmentLayoutTest, RowsAndColumnsMatchTheirFragment) {
  FragmentLayout fragment = getLayout({128, 16}, f32, 4);
  FragmentLayout rows = getLayout({128}, f32, 4);
  FragmentLayout columns = getLayout({1, 16}, f32, 4);
  for (int64_t i = 0; i < fragment.getNumElements(); ++i) {
    EXPECT_EQ(rows.getRow(fragment.getRowElement(i)), fragment.getRow(i));
    EXPECT_EQ(columns.getColumn(fragment.getColumnElement(i)),
              fragment.getColumn(i));
  }
}

TEST_F(FragmentLayoutTest, RefusesWhatDoesNotDivide) {
  EXPECT_FALSE(FragmentLayout::get(VectorType::get({32, 8}, f32), 4));
  EXPECT_FALSE(FragmentLayout::get(VectorType::get({64, 12}, f32), 4));
  EXPECT_FALSE(FragmentLayout::get(VectorType::get({2, 64, 8}, f32), 4));
  EXPECT_TRUE(FragmentLayout::get(VectorType::get({32, 8}, f32), 1));
}

} // namespace
