//===- SpecValues.cpp - What a field accepts, and how it says so ----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecFields.h"

#include "dialect/attn/Limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace attnc {

std::string printValue(const FieldValue &value) {
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag ? "true" : "false";
  if (const auto *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  if (const auto *number = std::get_if<double>(&value)) {
    // The shortest that reads back as the same number.
    char text[32];
    auto [end, code] = std::to_chars(text, text + sizeof text, *number,
                                     std::chars_format::general);
    return std::string(text, end);
  }
  if (const auto *text = std::get_if<std::string>(&value))
    return "'" + *text + "'";
  if (const auto *map = std::get_if<TextMap>(&value))
    return nlohmann::json(*map).dump(-1, ' ', false,
                                     nlohmann::json::error_handler_t::replace);
  return "nothing";
}

/// Long values would bury the message.
static std::string printShort(const FieldValue &value) {
  std::string text = printValue(value);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

std::string Field::flag() const {
  std::string text = name;
  for (char &c : text)
    if (c == '_')
      c = '-';
  return text;
}

static std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

static std::string describeRange(const Field &field) {
  std::string text = field.step == 1
                         ? "an integer"
                         : "a multiple of " + std::to_string(field.step);
  if (field.minimum == field.maximum)
    return std::to_string(field.minimum);
  text += " from " + std::to_string(field.minimum) + " to " +
          std::to_string(field.maximum);
  for (int64_t value : field.extra)
    text += " or " + std::to_string(value);
  return text;
}

std::string Field::describe() const {
  switch (type) {
  case FieldType::Boolean:
    return "true or false";
  case FieldType::Integer:
    return describeRange(*this);
  case FieldType::Number:
    return "a finite number greater than 0";
  case FieldType::Choice:
    return "one of " + join(choices);
  case FieldType::IntegerOrChoice:
    return describeRange(*this) + " or " + join(choices);
  case FieldType::Text:
    return "a text that is not empty";
  case FieldType::Map:
    return "an object of names and texts";
  }
  return {};
}

static bool inRange(const Field &field, int64_t value) {
  for (int64_t allowed : field.extra)
    if (value == allowed)
      return true;
  return value >= field.minimum && value <= field.maximum &&
         value % field.step == 0;
}

static bool isChoice(const Field &field, const FieldValue &value) {
  const auto *text = std::get_if<std::string>(&value);
  return text && std::find(field.choices.begin(), field.choices.end(), *text) !=
                     field.choices.end();
}

static bool isIdentifier(const std::string &text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                              "WXYZ0123456789_") == std::string::npos;
}

static bool isAcceptable(const Field &field, const FieldValue &value) {
  const auto *integer = std::get_if<int64_t>(&value);
  switch (field.type) {
  case FieldType::Boolean:
    return std::holds_alternative<bool>(value);
  case FieldType::Integer:
    return integer && inRange(field, *integer);
  case FieldType::Number: {
    const auto *number = std::get_if<double>(&value);
    return number && mlir::attn::isScale(*number);
  }
  case FieldType::Choice:
    return isChoice(field, value);
  case FieldType::IntegerOrChoice:
    return isChoice(field, value) || (integer && inRange(field, *integer));
  case FieldType::Text: {
    const auto *text = std::get_if<std::string>(&value);
    return text && !text->empty();
  }
  case FieldType::Map: {
    const auto *map = std::get_if<TextMap>(&value);
    if (!map)
      return false;
    for (const auto &[key, text] : *map)
      if (!isIdentifier(key) || text.empty())
        return false;
    return true;
  }
  }
  return false;
}

/// 128.0 is the integer 128 in JSON, and 1 is a fine number.
static void adaptNumber(FieldType type, FieldValue &value) {
  const auto *integer = std::get_if<int64_t>(&value);
  if (integer && type == FieldType::Number) {
    value = static_cast<double>(*integer);
    return;
  }
  const auto *number = std::get_if<double>(&value);
  bool wantsInteger =
      type == FieldType::Integer || type == FieldType::IntegerOrChoice;
  constexpr double kExact = 9007199254740992.0; // 2^53
  if (number && wantsInteger && std::abs(*number) <= kExact &&
      *number == std::floor(*number))
    value = static_cast<int64_t>(*number);
}

std::optional<std::string> Field::check(FieldValue &value) const {
  adaptNumber(type, value);
  if (isAcceptable(*this, value))
    return std::nullopt;
  std::string message =
      name + ": expected " + describe() + ", but got " + printShort(value);
  if (const auto *text = std::get_if<std::string>(&value))
    message += suggestion(*text, choices);
  return message;
}

/// Letters to insert and to delete. A replaced one counts as two, so that
/// sm_90 is nearer to sm_90a than to sm_80.
static size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j)
    row[j] = j;
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < to.size(); ++j) {
      size_t above = row[j + 1];
      row[j + 1] = from[i] == to[j] ? diagonal : std::min(above, row[j]) + 1;
      diagonal = above;
    }
  }
  return row.back();
}

std::optional<std::string> suggest(std::string_view got,
                                   const std::vector<std::string> &names) {
  // With half of the letters wrong it is a guess, not a slip.
  size_t best = std::min(std::max<size_t>(2, got.size() / 2), got.size()) + 1;
  std::optional<std::string> nearest;
  for (const std::string &name : names) {
    // At least the difference of the lengths.
    if (got.size() >= name.size() + best || name.size() >= got.size() + best)
      continue;
    size_t distance = editDistance(got, name);
    if (distance >= best)
      continue;
    nearest = name;
    best = distance;
  }
  return nearest;
}

std::string suggestion(std::string_view got,
                       const std::vector<std::string> &names) {
  std::optional<std::string> nearest = suggest(got, names);
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

} // namespace attnc
