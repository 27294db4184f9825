//===- FormulaTest.cpp - Tests of the formula language --------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Formula.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace attn::runtime;

namespace {

/// Evaluates with a = 10, b = 3, big = 2^62 and f = 0.5.
Expected<Value> evaluate(const std::string &text) {
  Symbols symbols;
  Environment environment;
  for (auto [name, value] : {std::make_pair("a", Value::of(int64_t(10))),
                             std::make_pair("b", Value::of(int64_t(3))),
                             std::make_pair("big", Value::of(int64_t(1) << 62)),
                             std::make_pair("f", Value::of(0.5))}) {
    symbols.intern(name);
    environment.push_back(value);
  }
  Expected<Formula> formula = Formula::parse(text, symbols);
  if (!formula)
    return formula.status();
  return formula->evaluate(environment);
}

void expectInteger(const std::string &text, int64_t expected) {
  Expected<Value> value = evaluate(text);
  ASSERT_TRUE(bool(value)) << text << ": " << value.status().message();
  EXPECT_TRUE(value->isInteger) << text;
  EXPECT_EQ(value->integer, expected) << text;
}

void expectError(const std::string &text, const std::string &part) {
  Expected<Value> value = evaluate(text);
  ASSERT_FALSE(bool(value)) << text;
  EXPECT_EQ(value.status().code(), StatusCode::InvalidArgument);
  EXPECT_NE(value.status().message().find(part), std::string::npos)
      << value.status().message();
}

} // namespace

TEST(Formula, FollowsPrecedence) {
  expectInteger("1 + 2 * 3", 7);
  expectInteger("(1 + 2) * 3", 9);
  expectInteger("10 - 3 - 2", 5);
  expectInteger("100 / 10 / 2", 5);
  expectInteger("-a + b", -7);
  expectInteger("2*-b", -6);
  expectInteger("a == 4 + 6", 1);
}

TEST(Formula, DivisionRoundsDown) {
  expectInteger("a / b", 3);
  expectInteger("-a / b", -4);
  expectInteger("a / -b", -4);
  expectInteger("-a / -b", 3);
  expectInteger("ceildiv(a, b)", 4);
  expectInteger("ceildiv(9, b)", 3);
  expectInteger("ceildiv(-a, b)", -3);
  expectInteger("ceildiv(0, b)", 0);
}

TEST(Formula, Functions) {
  expectInteger("min(a, b)", 3);
  expectInteger("max(a, b, 11, 2)", 11);
  Expected<Value> root = evaluate("rsqrt(128)");
  ASSERT_TRUE(bool(root));
  EXPECT_DOUBLE_EQ(root->real, 1 / std::sqrt(128.0));
}

TEST(Formula, Comparisons) {
  expectInteger("a == 10", 1);
  expectInteger("a != 10", 0);
  expectInteger("a < b", 0);
  expectInteger("a <= 10", 1);
  expectInteger("a > b", 1);
  expectInteger("a >= 11", 0);
}

TEST(Formula, RealsSpread) {
  Expected<Value> value = evaluate("a * f + 0.25");
  ASSERT_TRUE(bool(value));
  EXPECT_FALSE(value->isInteger);
  EXPECT_EQ(value->real, 5.25);
  EXPECT_EQ(evaluate("1e3")->real, 1000);
}

TEST(Formula, OverflowIsAnError) {
  expectError("big * 2", "overflow");
  expectError("big + big", "overflow");
  expectError("-big - big - 1", "overflow");
  expectError("-(-9223372036854775807 - 1)", "overflow");
  expectError("(-9223372036854775807 - 1) / -1", "overflow");
  expectError("9223372036854775808", "64 bits");
}

TEST(Formula, BadArithmetic) {
  expectError("a / 0", "divisor");
  expectError("ceildiv(a, b - 3)", "divisor");
  expectError("rsqrt(0)", "above 0");
  expectError("ceildiv(f, 2)", "integers");
  expectError("unknown + 1", "value for every name");
}

TEST(Formula, SyntaxErrorsNameThePlace) {
  expectError("", "at character 1");
  expectError("1 +", "at character 4");
  expectError("1 2", "at character 3");
  expectError("(1", "')'");
  expectError("min(1)", "','");
  expectError("ceildiv(1, 2, 3)", "')'");
  expectError("sqrt(2)", "sqrt");
  expectError("a $ b", "'$'");
  expectError("1 == 1 == 1", "operator");
  expectError(std::string(200, '(') + "1", "nesting");
  expectError(std::string(200, '-') + "1", "nesting");
  expectError(std::string(5000, '1'), "characters");
}

TEST(Formula, IntegersWhereNeeded) {
  Symbols symbols;
  Expected<Formula> formula = Formula::parse("rsqrt(4)", symbols);
  ASSERT_TRUE(bool(formula));
  Expected<int64_t> value = formula->evaluateInteger({});
  ASSERT_FALSE(bool(value));
  EXPECT_NE(value.status().message().find("integer"), std::string::npos);
}

TEST(Formula, KnowsItsNames) {
  Symbols symbols;
  Expected<Formula> formula = Formula::parse("x + y * x", symbols);
  ASSERT_TRUE(bool(formula));
  EXPECT_EQ(formula->symbols(), (std::vector<int>{0, 1}));
  EXPECT_FALSE(formula->asSymbol());
  Expected<Formula> name = Formula::parse(" y ", symbols);
  ASSERT_TRUE(bool(name));
  EXPECT_EQ(name->asSymbol(), 1);
}
