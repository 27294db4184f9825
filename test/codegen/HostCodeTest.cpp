//===- HostCodeTest.cpp - Tests of code in this process -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Host/HostCode.h"

#include <gtest/gtest.h>

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
