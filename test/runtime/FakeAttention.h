//===- FakeAttention.h - A kernel of the fake driver ---------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_FAKEATTENTION_H
#define ATTN_TEST_RUNTIME_FAKEATTENTION_H

#include "Seal.h"

#include <cstdint>
#include <string>

/// The parameters in the order of the manifest below; f16, head dimension 16,
/// causal bottom right. Strides are of b, s and h.
struct FakeAttention {
  const uint16_t *q, *k, *v;
  uint16_t *o;
  float *lse;
  int32_t batch, queries, keys, qoHeads, kvHeads;
  int64_t qStrides[3], kStrides[3], vStrides[3], oStrides[3];
  float scale;
};

/// Computes it, with the fault that the entry's name asks for:
/// attention_past_end, attention_wrong_row, attention_unstable,
/// attention_no_write; none for "attention".
void runFakeAttention(const std::string &entry, void **parameters);

/// The problem that it is of, without the bracket at the end.
constexpr const char *kFakeAttentionSpec =
    R"({"version": 1, "dtype": "f16", "num_qo_heads": 4, "num_kv_heads": 2,
        "head_dim_qk": 16, "lse": true,
        "mask": {"kind": "causal", "alignment": "bottom_right"})";

/// Of a kernel of that entry in the image.
inline std::string fakeAttentionManifest(const std::string &entry,
                                         std::string_view image) {
  std::string tensors, arguments;
  auto addTensor = [&](const std::string &name, const std::string &role,
                       const std::string &length, const std::string &heads) {
    tensors += "\"" + name + "\": {\"role\": \"" + role +
               "\", \"dtype\": \"f16\", \"dims\": [\"b\",\"s\",\"h\",\"d\"], "
               "\"shape\": [\"batch\", \"" +
               length + "\", \"" + heads +
               "\", \"16\"], \"alignment\": 16, \"stride_alignment\": 16},";
  };
  addTensor("q", "input", "seqlen_q", "num_qo_heads");
  addTensor("k", "input", "seqlen_k", "num_kv_heads");
  addTensor("v", "input", "seqlen_k", "num_kv_heads");
  addTensor("o", "output", "seqlen_q", "num_qo_heads");
  tensors += R"json("lse": {"role": "output", "dtype": "f32",
    "dims": ["b", "h", "s"], "shape": ["batch", "num_qo_heads", "seqlen_q"]})json";
  for (const char *name : {"q", "k", "v", "o", "lse"})
    arguments +=
        std::string("{\"type\": \"ptr\", \"tensor\": \"") + name + "\"},";
  for (const char *name :
       {"batch", "seqlen_q", "seqlen_k", "num_qo_heads", "num_kv_heads"})
    arguments +=
        std::string("{\"type\": \"i32\", \"value\": \"") + name + "\"},";
  for (const char *name : {"q", "k", "v", "o"})
    for (const char *dim : {"b", "s", "h"})
      arguments += std::string("{\"type\": \"i64\", \"stride\": {\"tensor\": "
                               "\"") +
                   name + "\", \"dim\": \"" + dim + "\"}},";
  arguments += "{\"type\": \"f32\", \"value\": \"softmax_scale\"}";
  std::string text = R"json({"manifest_version": 1, "name": "fake",
    "target": "sm_90a", "compute_capability": [9, 0],
    "spec_hash": "@SPEC@", "build_hash": "@BUILD@",
    "compiler": {"name": "fake"}, "schedule": {"style": "fa2"},
    "files": {"ptx": "fake.ptx", "ptx_sha256": "@PTX@"},
    "spec": {"version": 1, "direction": "forward", "target": "sm_90a",
      "dtype": "f16", "dtype_kv": "f16", "dtype_o": "f16", "head_dim_qk": 16,
      "head_dim_vo": 16, "group_size": 2, "layout": "bshd", "lse": true,
      "mask": {"kind": "causal", "alignment": "bottom_right", "tensor": false},
      "kv": {"kind": "contiguous", "seqused": false}, "bias": "none",
      "sinks": false, "num_splits": "one", "deterministic": true},
    "scalars": {"softmax_scale": {"type": "f32", "default": "rsqrt(16)"}},
    "constraints": ["num_qo_heads == 2 * num_kv_heads"],
    "kernels": [{"grid": ["batch * seqlen_q", "1", "1"], "block": [32, 1, 1],
    "entry": ")json" +
                     entry + "\", \"arguments\": [" + arguments +
                     "]}], \"tensors\": {" + tensors + "}}";
  return attn::runtime::test::seal(std::move(text), image);
}

#endif // ATTN_TEST_RUNTIME_FAKEATTENTION_H
