//===- HostCodeTest.cpp - Tests of code in this process -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Host/HostCode.h"

#include "llvm/ADT/bit.h"

#include <gtest/gtest.h>

#include <limits>

using mlir::attn::HostCode;

static std::unique_ptr<HostCode> compile(llvm::StringRef ir) {
  auto code = HostCode::compile(ir);
  if (!code) {
    ADD_FAILURE() << llvm::toString(code.takeError());
    return nullptr;
  }
  return std::move(*code);
}

TEST(HostCode, CallsByAddress) {
  auto code = compile(R"(
    define void @store_packed(ptr %args) {
      %1 = load ptr, ptr %args
      %2 = load ptr, ptr %1
      %3 = getelementptr ptr, ptr %args, i64 1
      %4 = load ptr, ptr %3
      %5 = load double, ptr %4
      %6 = call double @llvm.exp2.f64(double %5)
      store double %6, ptr %2
      ret void
    }
    declare double @llvm.exp2.f64(double))");
  auto function = code->lookup("store");
  ASSERT_TRUE(bool(function));
  double value = 10, result = 0;
  double *place = &result;
  void *arguments[] = {&place, &value};
  (*function)(arguments);
  EXPECT_EQ(result, 1024);
}

// Whatever this CPU has instructions for, code for another may call it.
TEST(HostCode, HasTheCompilersFunctionForBF16) {
  auto code = compile(R"(
    define void @round_packed(ptr %args) {
      %1 = load ptr, ptr %args
      %2 = load ptr, ptr %1
      %3 = getelementptr ptr, ptr %args, i64 1
      %4 = load ptr, ptr %3
      %5 = load float, ptr %4
      %6 = call bfloat @__truncsfbf2(float %5)
      %7 = bitcast bfloat %6 to i16
      store i16 %7, ptr %2
      ret void
    }
    declare bfloat @__truncsfbf2(float))");
  auto function = code->lookup("round");
  ASSERT_TRUE(bool(function));
  auto round = [&](float value) {
    uint16_t result = 0;
    uint16_t *place = &result;
    void *arguments[] = {&place, &value};
    (*function)(arguments);
    return result;
  };
  EXPECT_EQ(round(1.0F), 0x3F80);
  EXPECT_EQ(round(-0.0F), 0x8000);
  EXPECT_EQ(round(0x1.01p0F), 0x3F80);     // halfway, to even below
  EXPECT_EQ(round(0x1.03p0F), 0x3F82);     // halfway, to even above
  EXPECT_EQ(round(0x1.010002p0F), 0x3F81); // above halfway
  EXPECT_EQ(round(0x1.FFFFFEp127F), 0x7F80);
  EXPECT_EQ(round(std::numeric_limits<float>::infinity()), 0x7F80);
  EXPECT_EQ(round(llvm::bit_cast<float>(0x7F800001)), 0x7FC0);
}

TEST(HostCode, WhatIsNotThere) {
  auto code = compile("define void @f_packed(ptr %x) { ret void }");
  auto function = code->lookup("g");
  ASSERT_FALSE(bool(function));
  EXPECT_NE(llvm::toString(function.takeError()).find("g_packed"),
            std::string::npos);
}

TEST(HostCode, RefusesOtherText) {
  auto code = HostCode::compile(".version 8.6");
  ASSERT_FALSE(bool(code));
  EXPECT_EQ(llvm::toString(code.takeError()).find("expected LLVM IR, but got"),
            0u);
}
