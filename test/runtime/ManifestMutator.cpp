//===- ManifestMutator.cpp - One change to a manifest's JSON --------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changed bytes mostly make bad JSON, and a changed spec a wrong hash. So most
// mutants here are JSON with one value changed, half of them with the hashes
// that then belong to them: what a forger would do.
//
//===----------------------------------------------------------------------===//

#include "ManifestMutator.h"

#include "runtime/Json.h"

#include <cstring>
#include <random>

using attn::runtime::hashJson;
using attn::runtime::Json;
using attn::runtime::parseJson;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

class Mutator {
public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  void change(Json &root);
  size_t draw(size_t below) { return random_() % below; }

private:
  void collect(Json &value, std::vector<Json *> &values);
  Json makeValue(const std::vector<Json *> &values);
  void changeOne(Json &value, const std::vector<Json *> &values);

  std::mt19937 random_;
};

} // namespace

void Mutator::collect(Json &value, std::vector<Json *> &values) {
  values.push_back(&value);
  if (value.is_structured())
    for (Json &inner : value)
      collect(inner, values);
}

/// One that the format knows, one at a limit, or one from another place.
Json Mutator::makeValue(const std::vector<Json *> &values) {
  static const std::vector<Json> kValues = {nullptr,
                                            true,
                                            false,
                                            0,
                                            1,
                                            -1,
                                            2,
                                            3,
                                            7,
                                            16,
                                            17,
                                            64,
                                            128,
                                            1024,
                                            1 << 20,
                                            INT32_MAX,
                                            INT64_MAX,
                                            INT64_MIN,
                                            UINT64_MAX,
                                            0.5,
                                            1e300,
                                            "",
                                            "0",
                                            "1",
                                            "16",
                                            "seqlen_q",
                                            "seqlen_k",
                                            "num_qo_heads",
                                            "num_kv_heads",
                                            "batch",
                                            "seqlen_k + 1",
                                            "-1 * seqlen_q",
                                            "1 / 0",
                                            "batch / (batch - 1)",
                                            "9223372036854775807 + batch",
                                            "visible_pairs",
                                            "multiprocessors",
                                            "softmax_scale",
                                            "rsqrt(0)",
                                            "max(1, 2",
                                            "q",
                                            "k",
                                            "v",
                                            "o",
                                            "lse",
                                            "f16",
                                            "bf16",
                                            "f32",
                                            "f64",
                                            "i32",
                                            "i64",
                                            "ptr",
                                            "tensor_map",
                                            "input",
                                            "output",
                                            "b",
                                            "s",
                                            "h",
                                            "d",
                                            "bhsd",
                                            "thd",
                                            "paged",
                                            "backward",
                                            "host",
                                            "sm_80",
                                            "128B",
                                            "none",
                                            Json::array(),
                                            Json::object(),
                                            Json::array({"1", "1", "1"}),
                                            Json::array({1, 1, 1})};
  if (draw(3) == 0)
    return *values[draw(values.size())];
  return kValues[draw(kValues.size())];
}

void Mutator::changeOne(Json &value, const std::vector<Json *> &values) {
  if (value.is_object() && !value.empty() && draw(2) == 0) {
    auto item = value.begin();
    std::advance(item, draw(value.size()));
    if (draw(2) == 0)
      value.erase(item);
    else
      value["extra"] = Json(*item);
    return;
  }
  if (value.is_array() && !value.empty() && draw(2) == 0) {
    size_t at = draw(value.size());
    if (draw(2) == 0)
      value.erase(at);
    else
      value.push_back(Json(value[at]));
    return;
  }
  value = makeValue(values);
}

void Mutator::change(Json &root) {
  std::vector<Json *> values, places;
  collect(root, values);
  // Half of the time where nothing but the launch can tell what is right.
  if (draw(2) == 0 && root.contains("kernels"))
    collect(root["kernels"], places);
  else
    places = values;
  changeOne(*places[draw(places.size())], values);
  if (!root.is_object() || draw(2) == 0)
    return;
  auto get = [&](const char *key) { return root.value(key, Json()); };
  root["spec_hash"] = hashJson(get("spec"));
  root["build_hash"] = hashJson(Json{{"compiler", get("compiler")},
                                     {"schedule", get("schedule")},
                                     {"spec", get("spec")}});
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  Mutator mutator(seed);
  std::string_view base(reinterpret_cast<char *>(data), size);
  if (mutator.draw(2) == 0)
    base = validManifest();
  auto root = parseJson(base, "manifest");
  if (!root || mutator.draw(8) == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  mutator.change(*root);
  std::string text = root->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
