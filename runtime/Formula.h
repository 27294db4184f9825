//===- Formula.h - The manifest's formula language ------------ -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A manifest describes grids, shapes and sizes by formulas over the names of a
// problem, so that one artifact serves every shape:
//
//   expr    = sum [("==" | "!=" | "<" | "<=" | ">" | ">=") sum]
//   sum     = product {("+" | "-") product}
//   product = unary {("*" | "/") unary}
//   unary   = "-" unary | primary
//   primary = NUMBER | NAME | "(" expr ")"
//           | ("min" | "max") "(" expr "," expr {"," expr} ")"
//           | "ceildiv" "(" expr "," expr ")" | "rsqrt" "(" expr ")"
//
// Values are 64-bit integers, and doubles as soon as rsqrt, a scalar or a
// number with a decimal point comes in. Integer division rounds down. A
// comparison gives 0 or 1. Overflow and division by zero are errors.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_FORMULA_H
#define ATTN_RUNTIME_FORMULA_H

#include "runtime/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn::runtime {

struct Value {
  bool isInteger = true;
  int64_t integer = 0;
  double real = 0;

  static Value of(int64_t value) { return {true, value, 0}; }
  static Value of(double value) { return {false, 0, value}; }
  double asReal() const {
    return isInteger ? static_cast<double>(integer) : real;
  }
  bool operator==(const Value &other) const;
  std::string str() const;
};

/// The names that the formulas of one manifest use, numbered from 0.
class Symbols {
public:
  int intern(std::string_view name);
  std::optional<int> find(std::string_view name) const;
  const std::string &name(int symbol) const { return names_[symbol]; }
  int size() const { return static_cast<int>(names_.size()); }

private:
  std::vector<std::string> names_;
};

/// The value of each symbol; empty where it is not known (yet).
using Environment = std::vector<std::optional<Value>>;

/// A parsed formula. The text is kept for messages.
class Formula {
public:
  static Expected<Formula> parse(std::string_view text, Symbols &symbols);

  Expected<Value> evaluate(const Environment &environment) const;
  /// Like evaluate, but a value that is no integer is an error.
  Expected<int64_t> evaluateInteger(const Environment &environment) const;

  const std::string &text() const { return text_; }
  /// The symbols used, each once, in the order of their first use.
  std::vector<int> symbols() const;
  /// The symbol, if the formula is a name and nothing else.
  std::optional<int> asSymbol() const;

private:
  friend class FormulaParser;

  enum class Op : uint8_t {
    Constant,
    Symbol,
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    CeilDivide,
    Minimum,
    Maximum,
    ReciprocalSqrt,
    Equal,
    NotEqual,
    Less,
    LessEqual,
  };
  /// One step of the postfix program that the text is parsed into.
  struct Step {
    Op op;
    int symbol = -1;
    Value constant;
  };

  Expected<Value> leaf(const Step &step, const Environment &environment) const;
  Expected<Value> applyUnary(Op op, const Value &operand) const;
  Expected<Value> applyBinary(Op op, const Value &lhs, const Value &rhs) const;
  Expected<Value> applyInteger(Op op, int64_t lhs, int64_t rhs) const;
  Status error(const std::string &what) const;

  std::string text_;
  std::vector<Step> steps_;
  size_t stackDepth_ = 0;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_FORMULA_H
