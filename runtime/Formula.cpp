//===- Formula.cpp - The manifest's formula language ----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace attn::runtime {

//===----------------------------------------------------------------------===//
// Values and symbols
//===----------------------------------------------------------------------===//

bool Value::operator==(const Value &other) const {
  if (isInteger && other.isInteger)
    return integer == other.integer;
  return asReal() == other.asReal();
}

std::string Value::str() const {
  if (isInteger)
    return std::to_string(integer);
  // Whatever the locale of the process that loaded us.
  char text[40];
  auto [end, code] = std::to_chars(text, text + sizeof text, real,
                                   std::chars_format::general, 9);
  return std::string(text, end);
}

int Symbols::intern(std::string_view name) {
  if (std::optional<int> known = find(name))
    return *known;
  names_.emplace_back(name);
  return size() - 1;
}

std::optional<int> Symbols::find(std::string_view name) const {
  auto it = std::find(names_.begin(), names_.end(), name);
  if (it == names_.end())
    return std::nullopt;
  return static_cast<int>(it - names_.begin());
}

//===----------------------------------------------------------------------===//
// Parser
//===----------------------------------------------------------------------===//

/// Recursive descent over the grammar in the header. The first error stops it.
class FormulaParser {
public:
  FormulaParser(std::string_view text, Symbols &symbols) : symbols_(symbols) {
    formula_.text_ = text;
  }

  Expected<Formula> run() {
    // Bounds the memory of a hostile manifest; real formulas are short.
    if (formula_.text_.size() > kMaxLength)
      return Status::invalidArgument(
          "expected a formula of at most " + std::to_string(kMaxLength) +
          " characters, but got " + std::to_string(formula_.text_.size()));
    parseComparison(0);
    skipSpace();
    if (error_.empty() && at_ != text().size())
      fail("the end or an operator");
    if (!error_.empty())
      return formula_.error(error_);
    return std::move(formula_);
  }

private:
  using Op = Formula::Op;
  static constexpr size_t kMaxLength = 4096;
  static constexpr int kMaxNesting = 64;

  std::string_view text() const { return formula_.text_; }

  void fail(const std::string &expected) {
    if (!error_.empty())
      return;
    std::string got =
        at_ < text().size() ? std::string("'") + text()[at_] + "'" : "the end";
    error_ = "expected " + expected + " at character " +
             std::to_string(at_ + 1) + ", but got " + got;
  }

  void skipSpace() {
    while (at_ < text().size() && text()[at_] == ' ')
      ++at_;
  }

  bool accept(std::string_view token) {
    skipSpace();
    if (text().substr(at_, token.size()) != token)
      return false;
    at_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (error_.empty() && !accept(token))
      fail("'" + std::string(token) + "'");
  }

  /// Appends a step that takes `operands` values from the stack.
  void push(Formula::Step step, int operands) {
    depth_ = depth_ - operands + 1;
    formula_.stackDepth_ = std::max(formula_.stackDepth_, depth_);
    formula_.steps_.push_back(step);
  }
  void push(Op op, int operands) { push({op, -1, {}}, operands); }

  void parseComparison(int nesting) {
    parseSum(nesting);
    // Longer tokens first; a > b is b < a with the operands evaluated in the
    // order written, so it becomes not (a <= b), i.e. (a <= b) == 0.
    static constexpr struct {
      std::string_view token;
      Op op;
      bool negate;
    } kTable[] = {{"==", Op::Equal, false},     {"!=", Op::NotEqual, false},
                  {"<=", Op::LessEqual, false}, {">=", Op::Less, true},
                  {"<", Op::Less, false},       {">", Op::LessEqual, true}};
    for (const auto &entry : kTable) {
      if (!accept(entry.token))
        continue;
      parseSum(nesting);
      push(entry.op, 2);
      if (entry.negate) {
        push({Op::Constant, -1, Value::of(int64_t(0))}, 0);
        push(Op::Equal, 2);
      }
      return;
    }
  }

  void parseSum(int nesting) {
    parseProduct(nesting);
    while (error_.empty()) {
      Op op = Op::Add;
      if (!accept("+")) {
        if (!accept("-"))
          return;
        op = Op::Subtract;
      }
      parseProduct(nesting);
      push(op, 2);
    }
  }

  void parseProduct(int nesting) {
    parseUnary(nesting);
    while (error_.empty()) {
      Op op = Op::Multiply;
      if (!accept("*")) {
        if (!accept("/"))
          return;
        op = Op::Divide;
      }
      parseUnary(nesting);
      push(op, 2);
    }
  }

  void parseUnary(int nesting) {
    if (nesting > kMaxNesting)
      return fail("less nesting");
    if (accept("-")) {
      parseUnary(nesting + 1);
      push(Op::Negate, 1);
      return;
    }
    parsePrimary(nesting);
  }

  void parsePrimary(int nesting) {
    if (!error_.empty())
      return;
    if (accept("(")) {
      parseComparison(nesting + 1);
      return expect(")");
    }
    skipSpace();
    char c = at_ < text().size() ? text()[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(c)))
      return parseNumber();
    if (!std::isalpha(static_cast<unsigned char>(c)) && c != '_')
      return fail("a number, a name or '('");
    std::string_view name = lexName();
    if (accept("("))
      return parseCall(name, nesting + 1);
    push({Op::Symbol, symbols_.intern(name), {}}, 0);
  }

  std::string_view lexName() {
    size_t start = at_;
    while (at_ < text().size() &&
           (std::isalnum(static_cast<unsigned char>(text()[at_])) ||
            text()[at_] == '_'))
      ++at_;
    return text().substr(start, at_ - start);
  }

  void parseNumber() {
    const char *begin = text().data() + at_;
    const char *end = text().data() + text().size();
    int64_t integer = 0;
    auto asInteger = std::from_chars(begin, end, integer);
    bool isReal = asInteger.ptr != end &&
                  (*asInteger.ptr == '.' || *asInteger.ptr == 'e');
    if (!isReal) {
      if (asInteger.ec != std::errc())
        return fail("an integer of at most 64 bits");
      at_ += asInteger.ptr - begin;
      return push({Op::Constant, -1, Value::of(integer)}, 0);
    }
    double real = 0;
    auto asReal = std::from_chars(begin, end, real);
    if (asReal.ec != std::errc())
      return fail("a number in the range of a double");
    at_ += asReal.ptr - begin;
    push({Op::Constant, -1, Value::of(real)}, 0);
  }

  void parseCall(std::string_view name, int nesting) {
    static constexpr struct {
      std::string_view name;
      Op op;
      int minArguments, maxArguments;
    } kTable[] = {{"min", Op::Minimum, 2, 16},
                  {"max", Op::Maximum, 2, 16},
                  {"ceildiv", Op::CeilDivide, 2, 2},
                  {"rsqrt", Op::ReciprocalSqrt, 1, 1}};
    for (const auto &entry : kTable) {
      if (entry.name != name)
        continue;
      int count = 0;
      do {
        parseComparison(nesting);
        if (++count > 1)
          push(entry.op, 2);
      } while (error_.empty() && count < entry.maxArguments && accept(","));
      if (error_.empty() && count < entry.minArguments)
        return fail("','");
      if (entry.maxArguments == 1)
        push(entry.op, 1);
      return expect(")");
    }
    if (error_.empty())
      error_ = "expected the function ceildiv, max, min or rsqrt, but got " +
               std::string(name);
  }

  Symbols &symbols_;
  Formula formula_;
  size_t at_ = 0;
  size_t depth_ = 0;
  std::string error_;
};

Expected<Formula> Formula::parse(std::string_view text, Symbols &symbols) {
  return FormulaParser(text, symbols).run();
}

Status Formula::error(const std::string &what) const {
  return Status::invalidArgument("formula '" + text_ + "': " + what);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Rounds towards minus infinity; `rhs` is neither 0 nor is the quotient 2^63.
static int64_t floorDivide(int64_t lhs, int64_t rhs) {
  int64_t quotient = lhs / rhs;
  return lhs % rhs != 0 && (lhs < 0) != (rhs < 0) ? quotient - 1 : quotient;
}

Expected<Value> Formula::applyInteger(Op op, int64_t lhs, int64_t rhs) const {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
  case Op::Add:
    overflow = __builtin_add_overflow(lhs, rhs, &result);
    break;
  case Op::Subtract:
    overflow = __builtin_sub_overflow(lhs, rhs, &result);
    break;
  case Op::Multiply:
    overflow = __builtin_mul_overflow(lhs, rhs, &result);
    break;
  case Op::Divide:
  case Op::CeilDivide:
    if (rhs == 0)
      return error("expected a divisor other than 0");
    overflow = lhs == std::numeric_limits<int64_t>::min() && rhs == -1;
    if (!overflow) {
      result = floorDivide(lhs, rhs);
      if (op == Op::CeilDivide && lhs % rhs != 0)
        ++result;
    }
    break;
  default:
    return error("expected an arithmetic operator");
  }
  if (overflow)
    return error("expected values within 64 bits, but " + std::to_string(lhs) +
                 " and " + std::to_string(rhs) + " overflow");
  return Value::of(result);
}

Expected<Value> Formula::applyBinary(Op op, const Value &lhs,
                                     const Value &rhs) const {
  bool integers = lhs.isInteger && rhs.isInteger;
  auto less = [&](const Value &a, const Value &b) {
    return integers ? a.integer < b.integer : a.asReal() < b.asReal();
  };
  switch (op) {
  case Op::Minimum:
    return less(rhs, lhs) ? rhs : lhs;
  case Op::Maximum:
    return less(lhs, rhs) ? rhs : lhs;
  case Op::Equal:
    return Value::of(int64_t(lhs == rhs));
  case Op::NotEqual:
    return Value::of(int64_t(!(lhs == rhs)));
  case Op::Less:
    return Value::of(int64_t(less(lhs, rhs)));
  case Op::LessEqual:
    return Value::of(int64_t(less(lhs, rhs) || lhs == rhs));
  default:
    break;
  }
  if (integers)
    return applyInteger(op, lhs.integer, rhs.integer);
  double a = lhs.asReal(), b = rhs.asReal();
  switch (op) {
  case Op::Add:
    return Value::of(a + b);
  case Op::Subtract:
    return Value::of(a - b);
  case Op::Multiply:
    return Value::of(a * b);
  case Op::Divide:
    return Value::of(a / b);
  default:
    return error("expected integers in ceildiv, but got " + lhs.str() +
                 " and " + rhs.str());
  }
}

Expected<Value> Formula::applyUnary(Op op, const Value &operand) const {
  if (op == Op::ReciprocalSqrt) {
    if (!(operand.asReal() > 0))
      return error("expected rsqrt of a number above 0, but got " +
                   operand.str());
    return Value::of(1 / std::sqrt(operand.asReal()));
  }
  if (!operand.isInteger)
    return Value::of(-operand.real);
  return applyInteger(Op::Subtract, 0, operand.integer);
}

Expected<Value> Formula::leaf(const Step &step,
                              const Environment &environment) const {
  if (step.op == Op::Constant)
    return step.constant;
  if (static_cast<size_t>(step.symbol) >= environment.size() ||
      !environment[step.symbol])
    return error("expected a value for every name it uses");
  return *environment[step.symbol];
}

Expected<Value> Formula::evaluate(const Environment &environment) const {
  // Most formulas of a launch are one name: no stack, no allocation.
  if (steps_.size() == 1)
    return leaf(steps_[0], environment);
  std::vector<Value> stack;
  stack.reserve(stackDepth_);
  for (const Step &step : steps_) {
    if (step.op == Op::Constant || step.op == Op::Symbol) {
      Expected<Value> value = leaf(step, environment);
      if (!value)
        return value.status();
      stack.push_back(*value);
      continue;
    }
    bool unary = step.op == Op::Negate || step.op == Op::ReciprocalSqrt;
    Value rhs = stack.back();
    if (!unary)
      stack.pop_back();
    Expected<Value> result = unary ? applyUnary(step.op, rhs)
                                   : applyBinary(step.op, stack.back(), rhs);
    if (!result)
      return result.status();
    stack.back() = *result;
  }
  return stack.back();
}

Expected<int64_t>
Formula::evaluateInteger(const Environment &environment) const {
  Expected<Value> value = evaluate(environment);
  if (!value)
    return value.status();
  if (!value->isInteger)
    return error("expected an integer, but got " + value->str());
  return value->integer;
}

std::vector<int> Formula::symbols() const {
  std::vector<int> result;
  for (const Step &step : steps_)
    if (step.op == Op::Symbol &&
        std::find(result.begin(), result.end(), step.symbol) == result.end())
      result.push_back(step.symbol);
  return result;
}

std::optional<int> Formula::asSymbol() const {
  if (steps_.size() == 1 && steps_[0].op == Op::Symbol)
    return steps_[0].symbol;
  return std::nullopt;
}

} // namespace attn::runtime
