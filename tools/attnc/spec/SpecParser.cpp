//===- SpecParser.cpp - From spec files and flags to a spec ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecParser.h"

#include "runtime/Json.h"

#include <charconv>
#include <set>

namespace attnc {

using attn::runtime::Json;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Of O where nobody says it.
static DType deriveOutputType(DType inputs) {
  return inputs == DType::E4M3 ? DType::BF16 : inputs;
}

static size_t indexOf(const Field &field) {
  return &field - specFields().data();
}

const FieldValue &SpecValues::get(std::string_view name) const {
  return values[indexOf(*findField(name))];
}

void SpecValues::set(const Field &field, FieldValue value, Errors &errors) {
  if (std::optional<std::string> message = field.check(value))
    errors.push_back(std::move(*message));
  else
    values[indexOf(field)] = std::move(value);
}

/// Whether a field has the value that it would have if nobody gave one.
static bool isDerived(const Field &field, const Spec &spec) {
  if (field.name == "dtype_kv")
    return spec.dtypeKV == spec.dtype;
  if (field.name == "dtype_o")
    return spec.dtypeO == deriveOutputType(spec.dtype);
  if (field.name == "num_kv_heads")
    return spec.numKVHeads == spec.numQOHeads;
  return field.name == "head_dim_vo" && spec.headDimVO == spec.headDimQK;
}

void SpecValues::readSpec(const Spec &spec, Errors &errors) {
  for (const Field &field : specFields())
    if (FieldValue value = field.get(spec);
        isGiven(value) && !isDerived(field, spec))
      set(field, std::move(value), errors);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// Long values would bury the message.
static std::string shorten(const std::string &text) {
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

static std::string dump(const Json &json) {
  return shorten(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// Nothing where no field could have such a value.
static std::optional<FieldValue> toValue(const Json &json) {
  switch (json.type()) {
  case Json::value_t::boolean:
    return FieldValue(json.get<bool>());
  case Json::value_t::number_integer:
    return FieldValue(json.get<int64_t>());
  case Json::value_t::number_unsigned: {
    auto number = json.get<uint64_t>();
    if (number > INT64_MAX)
      return std::nullopt;
    return FieldValue(static_cast<int64_t>(number));
  }
  case Json::value_t::number_float:
    return FieldValue(json.get<double>());
  case Json::value_t::string:
    return FieldValue(json.get<std::string>());
  case Json::value_t::object: {
    TextMap map;
    for (const auto &item : json.items()) {
      if (!item.value().is_string())
        return std::nullopt;
      map[item.key()] = item.value().get<std::string>();
    }
    return FieldValue(std::move(map));
  }
  default:
    return std::nullopt;
  }
}

/// A value that no field has.
static std::string misfit(const Field &field, const Json &json) {
  return field.name + ": expected " + field.describe() + ", but got " +
         dump(json);
}

/// Fields and groups: what a key at the top of a file, or in `group`, may be.
static std::vector<std::string> keysOf(const std::string &group) {
  std::set<std::string> keys;
  std::string prefix = group.empty() ? "" : group + ".";
  for (const Field &field : specFields()) {
    if (field.name.compare(0, prefix.size(), prefix) != 0)
      continue;
    std::string rest = field.name.substr(prefix.size());
    keys.insert(prefix + rest.substr(0, rest.find('.')));
  }
  return {keys.begin(), keys.end()};
}

static bool isGroup(const std::string &name) {
  for (const Field &field : specFields())
    if (field.name.compare(0, name.size() + 1, name + ".") == 0)
      return true;
  return false;
}

static std::string unknownKey(const std::string &key,
                              const std::string &group) {
  std::string name = shorten(key);
  std::string what = group.empty() ? "the spec" : "'" + group + "'";
  if (group.empty() && findField(name))
    return name +
           ": expected a dotted name to be an object in an object, but "
           "got '" +
           name + "' as one key";
  std::vector<std::string> names = keysOf(group);
  // A key that only got its level wrong.
  if (group.empty())
    for (const Field &field : specFields())
      if (size_t dot = field.name.find('.');
          dot != std::string::npos && field.name.substr(dot + 1) == name)
        return name + ": expected a key of the spec, but got '" + name +
               "'; did you mean '" + field.name + "'?";
  return name + ": expected a key of " + what + ", but got '" + name + "'" +
         suggestion(name, names);
}

void SpecValues::readJSON(std::string_view text, const std::string &fileName,
                          Errors &errors) {
  // Nothing that people write by hand comes near this.
  constexpr size_t kMaxBytes = size_t(1) << 20;
  if (text.size() > kMaxBytes) {
    errors.push_back(fileName + ": expected a spec of at most " +
                     std::to_string(kMaxBytes) + " bytes, but got " +
                     std::to_string(text.size()));
    return;
  }
  auto parsed = attn::runtime::parseJson(text, fileName);
  if (!parsed) {
    errors.push_back(parsed.status().message());
    return;
  }
  const Json &root = *parsed;
  if (!root.is_object()) {
    errors.push_back(fileName + ": expected an object, but got " + dump(root));
    return;
  }

  auto read = [&](const std::string &name, const std::string &group,
                  const Json &json) {
    const Field *field = findField(name);
    if (!field || (group.empty() && name.find('.') != std::string::npos)) {
      errors.push_back(unknownKey(name, group));
      return;
    }
    if (std::optional<FieldValue> value = toValue(json))
      set(*field, std::move(*value), errors);
    else
      errors.push_back(misfit(*field, json));
  };

  // Of another version nothing is known, so nothing else is said.
  if (root.contains("version")) {
    size_t before = errors.size();
    read("version", "", root["version"]);
    if (errors.size() != before)
      return;
  }
  for (const auto &item : root.items()) {
    if (!isGroup(item.key())) {
      read(item.key(), "", item.value());
      continue;
    }
    if (!item.value().is_object()) {
      errors.push_back(item.key() + ": expected an object, but got " +
                       dump(item.value()));
      continue;
    }
    for (const auto &nested : item.value().items())
      read(item.key() + "." + nested.key(), item.key(), nested.value());
  }
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// A number, but none that a double holds.
static bool isTooLarge(const std::string &text) {
  double value = 0;
  const char *last = text.data() + text.size();
  auto [end, code] = std::from_chars(text.data(), last, value);
  return code == std::errc::result_out_of_range && end == last &&
         !Json::accept(text);
}

void SpecValues::readFlag(const Field &field, const std::string &text,
                          Errors &errors) {
  bool isText = field.type == FieldType::Text;
  if (field.type == FieldType::Map) {
    // NAME=TEXT, once per name.
    size_t equals = text.find('=');
    TextMap map;
    if (const auto *old = std::get_if<TextMap>(&values[indexOf(field)]))
      map = *old;
    if (equals == std::string::npos)
      errors.push_back(field.name + ": expected NAME=TYPE, but got '" + text +
                       "'");
    else if (map[text.substr(0, equals)] = text.substr(equals + 1); true)
      set(field, std::move(map), errors);
    return;
  }
  // Numbers and booleans are written as in JSON, choices without quotes.
  FieldValue value = text;
  if (!isText) {
    Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (isTooLarge(text)) {
      errors.push_back(field.name + ": expected a finite number, but got " +
                       text);
      return;
    }
    if (json.is_number() || json.is_boolean()) {
      std::optional<FieldValue> scalar = toValue(json);
      if (!scalar) {
        errors.push_back(misfit(field, json));
        return;
      }
      value = std::move(*scalar);
    }
  }
  set(field, std::move(value), errors);
}

//===----------------------------------------------------------------------===//
// Defaults
//===----------------------------------------------------------------------===//

/// Defaults that follow from other fields.
static void deriveDefaults(const SpecValues &values, Spec &spec) {
  if (!values.has("dtype_kv"))
    spec.dtypeKV = spec.dtype;
  if (!values.has("dtype_o"))
    spec.dtypeO = deriveOutputType(spec.dtype);
  if (!values.has("num_kv_heads"))
    spec.numKVHeads = spec.numQOHeads;
  if (!values.has("head_dim_vo"))
    spec.headDimVO = spec.headDimQK;
  if (spec.maskKind == MaskKind::Tensor)
    spec.maskTensor = true;
  if (spec.bias == Bias::Tensor && !values.has("bias_dtype"))
    spec.biasDType = DType::F32;

  // With pinned equal lengths both corners are one; where lengths may differ,
  // only what is no mask has a default.
  bool masked = spec.maskKind == MaskKind::Causal ||
                spec.maskKind == MaskKind::Window ||
                spec.maskKind == MaskKind::PrefixLM;
  bool needsOffset = spec.bias == Bias::Alibi || spec.scoreMod || spec.maskMod;
  if (!values.has("mask.alignment")) {
    if (masked && spec.seqlenQ && spec.seqlenQ == spec.seqlenK)
      spec.maskAlignment = Alignment::TopLeft;
    else if (!masked && needsOffset)
      spec.maskAlignment = Alignment::BottomRight;
  }
}

Spec SpecValues::resolve(Errors &errors) const {
  Spec spec;
  for (const Field &field : specFields()) {
    const FieldValue &value = values[indexOf(field)];
    if (isGiven(value))
      field.set(spec, value);
    else if (field.required)
      errors.push_back(field.name + ": expected " + field.describe() +
                       ", but the spec has none");
  }
  if (!errors.empty())
    return spec;
  deriveDefaults(*this, spec);
  checkRules(*this, spec, errors);
  return spec;
}

} // namespace attnc
