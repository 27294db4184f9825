//===- SpecSchema.cpp - The JSON schema of spec files ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecSchema.h"

#include "tools/attnc/spec/SpecFields.h"

#include <nlohmann/json.hpp>

namespace attnc {

using nlohmann::ordered_json;

static ordered_json integerSchema(const Field &field) {
  ordered_json schema = {{"type", "integer"},
                         {"minimum", field.minimum},
                         {"maximum", field.maximum}};
  if (field.step != 1)
    schema["multipleOf"] = field.step;
  if (field.extra.empty())
    return schema;
  ordered_json any = ordered_json::array({schema});
  any.push_back({{"enum", field.extra}});
  return {{"anyOf", any}};
}

static ordered_json typeSchema(const Field &field) {
  switch (field.type) {
  case FieldType::Boolean:
    return {{"type", "boolean"}};
  case FieldType::Integer:
    return integerSchema(field);
  case FieldType::Number:
    return {{"type", "number"}, {"exclusiveMinimum", 0}};
  case FieldType::Choice:
    return {{"enum", field.choices}};
  case FieldType::IntegerOrChoice: {
    ordered_json any = ordered_json::array({integerSchema(field)});
    any.push_back({{"enum", field.choices}});
    return {{"anyOf", any}};
  }
  case FieldType::Text:
    return {{"type", "string"}, {"minLength", 1}};
  case FieldType::Map:
    return {{"type", "object"},
            {"propertyNames", {{"pattern", "^[A-Za-z0-9_]+$"}}},
            {"additionalProperties", {{"type", "string"}, {"minLength", 1}}}};
  }
  return {};
}

static ordered_json fieldSchema(const Field &field) {
  ordered_json schema = typeSchema(field);
  schema["description"] =
      field.required ? field.summary
                     : field.summary + " (default: " + field.defaultText + ")";
  return schema;
}

std::string specSchema() {
  ordered_json properties = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const Field &field : specFields()) {
    size_t dot = field.name.find('.');
    if (field.required)
      required.push_back(field.name);
    if (dot == std::string::npos) {
      properties[field.name] = fieldSchema(field);
      continue;
    }
    ordered_json &group = properties[field.name.substr(0, dot)];
    if (group.is_null())
      group = {{"type", "object"},
               {"properties", ordered_json::object()},
               {"additionalProperties", false}};
    group["properties"][field.name.substr(dot + 1)] = fieldSchema(field);
  }
  ordered_json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "attention spec"},
      {"type", "object"},
      {"properties", properties},
      {"required", required},
      {"additionalProperties", false}};
  return schema.dump(2) + "\n";
}

} // namespace attnc
