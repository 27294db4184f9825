//===- SpecCanonical.cpp - One form, one hash, one name per kernel --------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/spec/SpecCanonical.h"

#include "runtime/Json.h"

namespace attnc {

using nlohmann::json;

static json toJSON(const FieldValue &value) {
  return std::visit(
      [](const auto &held) -> json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>,
                                     std::monostate>)
          return nullptr;
        else
          return held;
      },
      value);
}

/// Puts `value` where the dotted name says.
static void put(json &root, const std::string &name, json value) {
  size_t dot = name.find('.');
  if (dot == std::string::npos)
    root[name] = std::move(value);
  else
    root[name.substr(0, dot)][name.substr(dot + 1)] = std::move(value);
}

/// -1 is the absence of a window's bound.
static bool isBound(const FieldValue &value) {
  const auto *integer = std::get_if<int64_t>(&value);
  return isGiven(value) && !(integer && *integer == -1);
}

static std::string splitClass(const Spec &spec) {
  if (!spec.numSplits)
    return "auto";
  return *spec.numSplits == 1 ? "one" : "many";
}

json canonicalSpec(const Spec &original) {
  Spec spec = original;
  if (spec.maskKind == MaskKind::Tensor)
    spec.maskKind = MaskKind::None; // + mask.tensor: the same problem
  json root = json::object();
  for (const Field &field : specFields()) {
    FieldValue value = field.get(spec);
    switch (field.baked) {
    case Baked::Static:
    case Baked::Pinned:
      if (isGiven(value))
        put(root, field.name, toJSON(value));
      break;
    case Baked::Presence:
      if (isBound(value))
        put(root, field.name, true);
      break;
    case Baked::SplitClass:
      put(root, field.name, splitClass(spec));
      break;
    case Baked::Group:
    case Baked::Dynamic:
      break;
    }
  }
  root["group_size"] = spec.groupSize();
  return root;
}

json completeSpec(const Spec &spec) {
  json root = json::object();
  for (const Field &field : specFields())
    if (FieldValue value = field.get(spec); isGiven(value))
      put(root, field.name, toJSON(value));
  return root;
}

std::string specHash(const json &canonical) {
  return attn::runtime::hashJson(canonical);
}

static std::string maskName(const Spec &spec) {
  std::string name;
  switch (spec.maskKind) {
  case MaskKind::None:
  case MaskKind::Tensor:
    break;
  case MaskKind::Causal:
    name = "_causal";
    break;
  case MaskKind::Window:
    name = "_window";
    break;
  case MaskKind::PrefixLM:
    name = "_prefix";
    break;
  }
  if (!name.empty())
    name += spec.maskAlignment == Alignment::TopLeft ? "tl" : "br";
  return spec.maskTensor ? name + "_masktensor" : name;
}

std::string kernelName(const Spec &spec, const std::string &hash) {
  std::string name = "attn_";
  name += spec.direction == Direction::Forward ? "fwd_" : "bwd_";
  for (char c : spec.target)
    if (c != '_')
      name += c;
  name += "_" + std::string(toString(spec.dtype));
  name += "_d" + std::to_string(spec.headDimQK);
  if (spec.headDimVO != spec.headDimQK)
    name += "x" + std::to_string(spec.headDimVO);
  if (spec.groupSize() != 1)
    name += "_g" + std::to_string(spec.groupSize());
  if (spec.layout != Layout::BSHD)
    name += "_" + std::string(toString(spec.layout));
  name += maskName(spec);
  if (spec.lse)
    name += "_lse";
  return name + "_" + hash.substr(0, 8);
}

} // namespace attnc
