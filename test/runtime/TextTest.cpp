//===- TextTest.cpp - Tests of printed numbers ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers have a decimal point in every locale. A machine may have none with a
// comma; test/style/decimal_point.py then is what holds this up.
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Text.h"
#include "runtime/Formula.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>

namespace {

/// The first locale of this machine that has a decimal comma.
bool useCommas() {
  for (const char *name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"})
    if (std::setlocale(LC_ALL, name))
      return true;
  return false;
}

} // namespace

TEST(Text, NumbersHaveAPointInEveryLocale) {
  bool hasCommas = useCommas();
  char direct[16];
  std::snprintf(direct, sizeof direct, "%.1f", 2.5);
  std::string printed = attnc::format("%.1f %.3g", 2.5, 0.125);
  std::string value = attn::runtime::Value::of(2.5).str();
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(printed, "2.5 0.125");
  EXPECT_EQ(value, "2.5");
  if (!hasCommas)
    GTEST_SKIP() << "no locale with a decimal comma is installed";
  EXPECT_STREQ(direct, "2,5");
}
