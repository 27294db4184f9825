//===- Problem.cpp - What one run computes --------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Problem.h"

#include "runtime/Json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace attnc {

using attn::runtime::Expected;
using attn::runtime::Json;
using attn::runtime::parseJson;
using attn::runtime::Status;

std::map<std::string, int64_t> Problem::names() const {
  return {{"batch", batch},
          {"seqlen_q", queries},
          {"seqlen_k", keys},
          {"num_qo_heads", qoHeads},
          {"num_kv_heads", kvHeads}};
}

KeyInterval Problem::visibleKeys(int64_t row) const {
  KeyInterval visible{0, keys};
  if (intervals) {
    visible = (*intervals)[row];
  } else {
    int64_t offset = mask.bottomRight ? keys - queries : 0;
    if (mask.left)
      visible.first = row + offset - *mask.left;
    if (mask.right)
      visible.last = row + offset + *mask.right + 1;
  }
  visible.first = std::clamp<int64_t>(visible.first, 0, keys);
  visible.last = std::clamp<int64_t>(visible.last, visible.first, keys);
  return visible;
}

int64_t Problem::visiblePairs() const {
  if (!intervals)
    return attn::runtime::countVisiblePairs(mask, queries, keys);
  int64_t pairs = 0;
  for (int64_t row = 0; row < queries; ++row)
    pairs += visibleKeys(row).last - visibleKeys(row).first;
  return pairs;
}

double Problem::flops() const {
  return 2.0 * static_cast<double>(batch) * static_cast<double>(qoHeads) *
         static_cast<double>(visiblePairs()) *
         static_cast<double>(headDimQk + headDimVo);
}

/// The value at a dotted name; null where there is none.
static Json lookUp(const Json &root, const std::string &name) {
  size_t dot = name.find('.');
  if (dot == std::string::npos)
    return root.value(name, Json());
  Json group = root.value(name.substr(0, dot), Json());
  return group.is_object() ? group.value(name.substr(dot + 1), Json()) : Json();
}

/// What the reference computes; everything else must be at its default.
static Status checkCovered(const Json &spec, bool hasIntervals) {
  static const std::pair<const char *, Json> kOnly[] = {
      {"direction", "forward"}, {"kv.kind", "contiguous"},
      {"kv.seqused", false},    {"mask.tensor", false},
      {"bias", "none"},         {"sinks", false},
      {"score_mod", nullptr},   {"mask_mod", nullptr},
      {"descale", nullptr}};
  for (const auto &[name, only] : kOnly) {
    Json value = lookUp(spec, name);
    if (!value.is_null() && value != only)
      return Status::unsupported(std::string(name) + ": expected " +
                                 (only.is_null() ? "nothing" : only.dump()) +
                                 " for a run, but got " + value.dump());
  }
  static const std::pair<const char *, std::vector<Json>> kAmong[] = {
      {"layout", {"bshd", "bhsd"}},
      {"dtype", {"f16", "bf16", "f32", "f64"}},
      {"dtype_kv", {"f16", "bf16", "f32", "f64"}},
      {"dtype_o", {"f16", "bf16", "f32", "f64"}},
      {"mask.kind", {"none", "causal", "window"}}};
  for (const auto &[name, among] : kAmong) {
    Json value = lookUp(spec, name);
    bool isCovered =
        value.is_null() || (hasIntervals && std::string(name) == "mask.kind" &&
                            value == "attribute");
    std::string text;
    for (const Json &choice : among) {
      isCovered |= value == choice;
      text += (text.empty() ? "" : " or ") + choice.dump();
    }
    if (!isCovered)
      return Status::unsupported(std::string(name) + ": expected " + text +
                                 " for a run, but got " + value.dump());
  }
  return Status::ok();
}

/// A length comes from the shape or is pinned; both must agree.
static Status resolveLength(const Json &spec, const char *field,
                            const Shape &shape, const char *name,
                            int64_t &length) {
  Json pinned = lookUp(spec, field);
  auto given = shape.find(name);
  if (pinned.is_number_integer()) {
    length = pinned.get<int64_t>();
    if (given != shape.end() && given->second != length)
      return Status::invalidArgument(
          std::string(field) + ": expected " + std::to_string(length) +
          " as the spec pins it, but got " + std::to_string(given->second));
    return Status::ok();
  }
  if (given == shape.end())
    return Status::invalidArgument(std::string(field) + ": expected --shape " +
                                   name + "=N, but got none");
  length = given->second;
  return Status::ok();
}

static attn::runtime::Band makeBand(const Json &spec) {
  attn::runtime::Band band;
  band.bottomRight = lookUp(spec, "mask.alignment") == "bottom_right";
  Json kind = lookUp(spec, "mask.kind");
  if (kind == "causal")
    band.right = 0;
  if (kind == "window")
    for (auto [bound, name] :
         {std::make_pair(&band.left, "mask.window_left"),
          std::make_pair(&band.right, "mask.window_right")})
      if (Json value = lookUp(spec, name);
          value.is_number_integer() && value.get<int64_t>() >= 0)
        *bound = value.get<int64_t>();
  return band;
}

static Expected<Problem> readProblem(const Json &spec, const Shape &shape,
                                     const FindIntervals &findIntervals) {
  Problem problem;
  for (Status status :
       {checkCovered(spec, findIntervals != nullptr),
        resolveLength(spec, "batch", shape, "b", problem.batch),
        resolveLength(spec, "seqlen_q", shape, "sq", problem.queries),
        resolveLength(spec, "seqlen_k", shape, "sk", problem.keys)})
    if (!status.isOk())
      return status;
  auto integer = [&](const char *name, int64_t otherwise) {
    Json value = lookUp(spec, name);
    return value.is_number_integer() ? value.get<int64_t>() : otherwise;
  };
  problem.qoHeads = integer("num_qo_heads", 0);
  problem.kvHeads = integer("num_kv_heads", problem.qoHeads);
  problem.headDimQk = integer("head_dim_qk", 0);
  problem.headDimVo = integer("head_dim_vo", problem.headDimQk);
  if (problem.qoHeads <= 0 || problem.kvHeads <= 0 || problem.headDimQk <= 0 ||
      problem.headDimVo <= 0 || problem.qoHeads % problem.kvHeads != 0)
    return Status::invalidArgument("spec: expected head counts and head "
                                   "dimensions, but got none or unfit ones");
  Json dtype = lookUp(spec, "dtype");
  problem.dtype = dtype.is_string() ? dtype.get<std::string>() : "bf16";
  Json scale = lookUp(spec, "softmax_scale");
  problem.scale = scale.is_number()
                      ? scale.get<double>()
                      : 1 / std::sqrt(static_cast<double>(problem.headDimQk));
  // Kernels take it as f32, so that is the value the problem has; for f64 as
  // f64.
  if (problem.dtype != "f64")
    problem.scale = static_cast<float>(problem.scale);
  if (Json softcap = lookUp(spec, "softcap"); softcap.is_number())
    problem.softcap = static_cast<float>(softcap.get<double>());
  problem.mask = makeBand(spec);
  if (lookUp(spec, "mask.kind") == "attribute") {
    problem.intervals = findIntervals(problem.queries, problem.keys);
    if (!problem.intervals)
      return Status::unsupported("mask: expected ends that constants give for "
                                 "a run, but got " +
                                 lookUp(spec, "mask.attribute").dump());
  }
  return problem;
}

Expected<Problem> makeProblem(const std::string &text, const Shape &shape,
                              const FindIntervals &findIntervals) {
  Expected<Json> spec = parseJson(text, "spec");
  if (!spec)
    return spec.status();
  if (!spec->is_object())
    return Status::invalidArgument("spec: expected an object");
  return readProblem(*spec, shape, findIntervals);
}

std::map<std::string, double> launchScalars(const std::string &text) {
  std::map<std::string, double> scalars;
  Expected<Json> spec = parseJson(text, "spec");
  if (!spec || !spec->is_object())
    return scalars;
  for (const auto &item : spec->items()) {
    if (item.value().is_number())
      scalars[item.key()] = item.value().get<double>();
    if (item.value().is_object())
      for (const auto &inner : item.value().items())
        if (inner.value().is_number())
          scalars[inner.key()] = inner.value().get<double>();
  }
  return scalars;
}

Expected<Shape> parseShape(const std::string &text) {
  Shape shape;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string item = text.substr(at, end - at);
    size_t equals = item.find('=');
    std::string name = item.substr(0, equals);
    if (name != "b" && name != "sq" && name != "sk")
      return Status::invalidArgument(
          "--shape: expected b=N, sq=N or sk=N, but got '" + item + "'");
    int64_t value = -1;
    if (equals != std::string::npos) {
      const char *last = item.data() + item.size();
      auto [stop, code] =
          std::from_chars(item.data() + equals + 1, last, value);
      if (code != std::errc() || stop != last)
        value = -1;
    }
    if (value < 0 || value > INT32_MAX)
      return Status::invalidArgument("--shape: expected " + name +
                                     " in [0, 2147483647], but got '" + item +
                                     "'");
    if (!shape.emplace(name, value).second)
      return Status::invalidArgument("--shape: expected " + name +
                                     " once, but got it twice");
    at = end + 1;
  }
  return shape;
}

} // namespace attnc
