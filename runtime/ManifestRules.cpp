//===- ManifestRules.cpp - What a manifest's parts say of each other ------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/ManifestRules.h"

namespace attn::runtime {

namespace {

/// A tensor as the spec wants it; no dims where this file does not know.
struct Wanted {
  const char *name;
  TensorRole role;
  std::string dtype;
  std::vector<std::string> dims, shape;
};

/// Keeps the first error, like the reader.
class Rules {
public:
  Rules(const Json &root, const Manifest &manifest)
      : root_(root), spec_(root["spec"]), manifest_(manifest) {}

  Status check();

private:
  void fail(const std::string &path, const std::string &expected,
            const std::string &got) {
    if (error_.empty())
      error_ =
          "manifest: " + path + ": expected " + expected + ", but got " + got;
  }
  void expect(const std::string &path, const std::string &expected,
              const std::string &got) {
    if (expected != got)
      fail(path, expected, got);
  }

  // The spec. It has the hash that the compiler gave it, so its values have the
  // types that the compiler gave them; a forged one must not do harm.
  std::string text(const char *key);
  int64_t integer(const char *key);
  bool isInGroup(const char *group, const char *key, const char *value) const;

  void checkHashes();
  void checkTarget();
  void checkTensors();
  void checkTensor(const Wanted &wanted);
  std::vector<Wanted> wantedTensors();
  void checkScalars();
  void checkConstraints();
  void checkConstraint(const std::string &text, const std::string &why);

  const Json &root_, &spec_;
  const Manifest &manifest_;
  std::string error_;
};

} // namespace

std::string Rules::text(const char *key) {
  auto it = spec_.find(key);
  if (it != spec_.end() && it->is_string())
    return it->get<std::string>();
  fail(std::string("spec.") + key, "a string",
       it == spec_.end() ? "nothing" : it->dump());
  return {};
}

int64_t Rules::integer(const char *key) {
  auto it = spec_.find(key);
  if (it != spec_.end() && it->is_number_integer() && it->get<int64_t>() >= 0)
    return it->get<int64_t>();
  fail(std::string("spec.") + key, "an integer of at least 0",
       it == spec_.end() ? "nothing" : it->dump());
  return 0;
}

/// Whether a key of a group of the spec has this value.
bool Rules::isInGroup(const char *group, const char *key,
                      const char *value) const {
  auto it = spec_.find(group);
  return it != spec_.end() && it->is_object() && it->contains(key) &&
         (*it)[key] == value;
}

void Rules::checkHashes() {
  if (std::string hash = hashJson(spec_); hash != manifest_.specHash)
    fail("spec_hash", hash + " for this spec", manifest_.specHash);
  Json build = {{"compiler", root_["compiler"]},
                {"schedule", root_["schedule"]},
                {"spec", spec_}};
  if (std::string hash = hashJson(build); hash != manifest_.buildHash)
    fail("build_hash", hash + " for this compiler, schedule and spec",
         manifest_.buildHash);
}

/// sm_90a has capability 9.0, sm_100a 10.0; the host has none.
static std::optional<std::pair<int, int>>
capabilityOf(const std::string &target) {
  if (target == "host")
    return std::make_pair(0, 0);
  std::string_view digits = target;
  if (digits.substr(0, 3) != "sm_")
    return std::nullopt;
  digits.remove_prefix(3);
  if (!digits.empty() && digits.back() == 'a')
    digits.remove_suffix(1);
  if (digits.size() < 2 || digits.size() > 3)
    return std::nullopt;
  int number = 0;
  for (char c : digits) {
    if (c < '0' || c > '9')
      return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return std::make_pair(number / 10, number % 10);
}

void Rules::checkTarget() {
  expect("target", text("target"), manifest_.target);
  auto capability = capabilityOf(manifest_.target);
  if (!capability)
    return fail("target", "sm_NN, sm_NNa or host", manifest_.target);
  auto print = [](int major, int minor) {
    return "[" + std::to_string(major) + ", " + std::to_string(minor) + "]";
  };
  std::string got = print(manifest_.major, manifest_.minor);
  if (std::string want = print(capability->first, capability->second);
      want != got)
    fail("compute_capability", want + " for target " + manifest_.target, got);
}

/// The softmax of f64 is computed in f64, every other one in f32.
static const char *softmaxType(const std::string &dtype) {
  return dtype == "f64" ? "f64" : "f32";
}

std::vector<Wanted> Rules::wantedTensors() {
  std::string headDimQk = std::to_string(integer("head_dim_qk")),
              headDimVo = std::to_string(integer("head_dim_vo"));
  std::string layout = text("layout"), dtype = text("dtype");
  bool isForward = text("direction") == "forward";
  auto make = [&](const char *name, TensorRole role, std::string type,
                  const char *length, const char *heads, std::string columns) {
    Wanted wanted{name, role, std::move(type), {}, {}};
    if (layout == "bshd") {
      wanted.dims = {"b", "s", "h", "d"};
      wanted.shape = {"batch", length, heads, std::move(columns)};
    } else if (layout == "bhsd") {
      wanted.dims = {"b", "h", "s", "d"};
      wanted.shape = {"batch", heads, length, std::move(columns)};
    }
    return wanted;
  };
  TensorRole output = isForward ? TensorRole::Output : TensorRole::Input;
  std::vector<Wanted> wanted = {make("q", TensorRole::Input, dtype, "seqlen_q",
                                     "num_qo_heads", headDimQk),
                                make("k", TensorRole::Input, text("dtype_kv"),
                                     "seqlen_k", "num_kv_heads", headDimQk),
                                make("v", TensorRole::Input, text("dtype_kv"),
                                     "seqlen_k", "num_kv_heads", headDimVo),
                                make("o", output, text("dtype_o"), "seqlen_q",
                                     "num_qo_heads", headDimVo)};
  // Keys and values behind a page table have another shape.
  if (isInGroup("kv", "kind", "paged"))
    for (int t : {1, 2})
      wanted[t].dims = wanted[t].shape = {};
  if (spec_.value("lse", Json(false)) == true) {
    wanted.push_back({"lse", output, softmaxType(dtype), {}, {}});
    if (layout != "thd") {
      wanted.back().dims = {"b", "h", "s"};
      wanted.back().shape = {"batch", "num_qo_heads", "seqlen_q"};
    }
  }
  return wanted;
}

void Rules::checkTensor(const Wanted &wanted) {
  std::string path = std::string("tensors.") + wanted.name;
  std::optional<int> index = manifest_.findTensor(wanted.name);
  if (!index)
    return fail(path, "a tensor, as the spec has it", "nothing");
  const TensorSpec &tensor = manifest_.tensors[*index];
  auto print = [](TensorRole role) {
    return role == TensorRole::Input ? "input" : "output";
  };
  expect(path + ".role", print(wanted.role), print(tensor.role));
  expect(path + ".dtype", wanted.dtype, tensor.dtype);
  if (wanted.dims.empty())
    return;
  if (tensor.dims.size() != wanted.dims.size())
    return fail(path + ".dims",
                std::to_string(wanted.dims.size()) + " dimensions",
                std::to_string(tensor.dims.size()));
  for (size_t d = 0; d < wanted.dims.size(); ++d) {
    std::string at = "[" + std::to_string(d) + "]";
    expect(path + ".dims" + at, wanted.dims[d], tensor.dims[d]);
    expect(path + ".shape" + at, wanted.shape[d], tensor.shape[d].text());
  }
}

void Rules::checkTensors() {
  for (const Wanted &wanted : wantedTensors())
    checkTensor(wanted);
  if (manifest_.findTensor("lse") && spec_.value("lse", Json(false)) != true)
    fail("tensors.lse", "no such tensor, as the spec has none", "one");
}

void Rules::checkScalars() {
  std::optional<int> index = manifest_.findScalar("softmax_scale");
  if (!index)
    return fail("scalars.softmax_scale", "a scalar", "nothing");
  const ScalarSpec &scale = manifest_.scalars[*index];
  const char *got = scale.type == ScalarType::F32   ? "f32"
                    : scale.type == ScalarType::F64 ? "f64"
                                                    : "i32";
  expect("scalars.softmax_scale.type", softmaxType(text("dtype")), got);
  expect("scalars.softmax_scale.default",
         "rsqrt(" + std::to_string(integer("head_dim_qk")) + ")",
         scale.defaultValue ? scale.defaultValue->text() : "nothing");
}

void Rules::checkConstraint(const std::string &text, const std::string &why) {
  for (const Formula &constraint : manifest_.constraints)
    if (constraint.text() == text)
      return;
  fail("constraints", "'" + text + "' among them for " + why, "others");
}

void Rules::checkConstraints() {
  std::string group = std::to_string(integer("group_size"));
  checkConstraint("num_qo_heads == " + group + " * num_kv_heads",
                  "spec.group_size");
  for (const char *length : {"batch", "seqlen_q", "seqlen_k"})
    if (spec_.contains(length))
      checkConstraint(std::string(length) +
                          " == " + std::to_string(integer(length)),
                      std::string("spec.") + length);
}

Status Rules::check() {
  // A spec that is not the compiler's explains all that follows.
  checkHashes();
  checkTarget();
  checkTensors();
  checkScalars();
  checkConstraints();
  return error_.empty() ? Status::ok() : Status::invalidArgument(error_);
}

Status checkManifestRules(const Json &root, const Manifest &manifest) {
  return Rules(root, manifest).check();
}

} // namespace attn::runtime
