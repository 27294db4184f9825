//===- SpecMatch.cpp - Whether a kernel is that of a spec -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecMatch.h"

#include "tools/attnc/spec/SpecCanonical.h"

namespace attnc {

using nlohmann::json;

/// Values by dotted names, in the order of the table and then of the alphabet.
static std::vector<std::pair<std::string, json>> flatten(const json &spec) {
  std::vector<std::pair<std::string, json>> result;
  json rest = spec.is_object() ? spec : json::object();
  for (const Field &field : specFields()) {
    size_t dot = field.name.find('.');
    json *group = &rest;
    std::string key = field.name;
    if (dot != std::string::npos) {
      auto it = rest.find(field.name.substr(0, dot));
      if (it == rest.end() || !it->is_object())
        continue;
      group = &*it;
      key = field.name.substr(dot + 1);
    }
    if (auto it = group->find(key); it != group->end()) {
      result.emplace_back(field.name, std::move(*it));
      group->erase(it);
    }
  }
  for (auto &[key, value] : rest.items()) {
    // A group whose fields are all taken out says nothing more.
    if (value.is_object() && value.empty())
      continue;
    result.emplace_back(key, value);
  }
  return result;
}

static std::string print(const json &value) {
  if (value.is_null())
    return "no value";
  if (value.is_string())
    return "'" + value.get<std::string>() + "'";
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// As the user knows it: the canonical form has names and values of its own.
static std::string describe(const std::string &name, const json &value) {
  const Field *field = findField(name);
  if (field && field->baked == Baked::Presence)
    return value.is_null() ? "no value" : "a value";
  return print(value);
}

static std::string message(const std::string &name, const json &compiled,
                           const json &got) {
  return (name == "group_size" ? "num_qo_heads / num_kv_heads" : name) +
         ": expected " + describe(name, compiled) +
         ", as the kernel was compiled for, but got " + describe(name, got);
}

std::optional<std::string> findMismatch(const Spec &spec,
                                        const json &compiled) {
  auto want = flatten(compiled), have = flatten(canonicalSpec(spec));
  auto lookUp = [](const auto &list, const std::string &name) {
    for (const auto &[key, value] : list)
      if (key == name)
        return value;
    return json();
  };
  for (const auto &[name, value] : have)
    if (json other = lookUp(want, name); other != value)
      return message(name, other, value);
  for (const auto &[name, value] : want)
    if (json other = lookUp(have, name); other != value)
      return message(name, value, other);
  return std::nullopt;
}

std::string readMatchingSpec(std::string_view text, const std::string &fileName,
                             const std::string &compiled, Errors &errors) {
  SpecValues values;
  values.readJSON(text, fileName, errors);
  if (!errors.empty())
    return {};
  Spec spec = values.resolve(errors);
  if (!errors.empty())
    return {};
  json canonical = json::parse(compiled, nullptr, /*allow_exceptions=*/false);
  if (std::optional<std::string> mismatch = findMismatch(spec, canonical))
    errors.push_back(fileName + ": " + *mismatch);
  return completeSpec(spec).dump();
}

} // namespace attnc
