//===- Sample.h - A manifest and tensors to test with --------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_SAMPLE_H
#define ATTN_TEST_RUNTIME_SAMPLE_H

#include "Seal.h"

#include "runtime/Arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace attn::runtime::test {

/// What the manifest below says that its PTX is.
constexpr const char *kSampleImage = ".version 8.6";

/// A small forward kernel of layout bshd, head dimension 64; unsealed.
inline std::string sampleText() {
  return R"json({
  "manifest_version": 1,
  "name": "sample",
  "spec": {"version": 1, "direction": "forward", "target": "sm_90a",
           "dtype": "bf16", "dtype_kv": "bf16", "dtype_o": "bf16",
           "head_dim_qk": 64, "head_dim_vo": 64, "group_size": 2,
           "layout": "bshd", "lse": true,
           "mask": {"kind": "causal", "alignment": "bottom_right"}},
  "spec_hash": "@SPEC@",
  "build_hash": "@BUILD@",
  "compiler": {"name": "attnc"}, "schedule": {"style": "fa3"},
  "target": "sm_90a", "compute_capability": [9, 0],
  "tensors": {
    "q": {"role": "input", "dtype": "bf16", "dims": ["b", "s", "h", "d"],
          "shape": ["batch", "seqlen_q", "num_qo_heads", "64"],
          "alignment": 16, "stride_alignment": 16},
    "k": {"role": "input", "dtype": "bf16", "dims": ["b", "s", "h", "d"],
          "shape": ["batch", "seqlen_k", "num_kv_heads", "64"],
          "alignment": 16, "stride_alignment": 16},
    "o": {"role": "output", "dtype": "bf16", "dims": ["b", "s", "h", "d"],
          "shape": ["batch", "seqlen_q", "num_qo_heads", "64"],
          "alignment": 16, "stride_alignment": 16},
    "lse": {"role": "output", "dtype": "f32", "dims": ["b", "h", "s"],
            "shape": ["batch", "num_qo_heads", "seqlen_q"]},
    "v": {"role": "input", "dtype": "bf16", "dims": ["b", "s", "h", "d"],
          "shape": ["batch", "seqlen_k", "num_kv_heads", "64"]}},
  "scalars": {"softmax_scale": {"type": "f32", "default": "rsqrt(64)"}},
  "constraints": ["num_qo_heads == 2 * num_kv_heads"],
  "kernels": [{
    "entry": "sample_entry",
    "arguments": [
      {"type": "ptr", "tensor": "o"},
      {"type": "i32", "value": "seqlen_k"},
      {"type": "i64", "stride": {"tensor": "o", "dim": "s"}},
      {"type": "f32", "value": "softmax_scale"},
      {"type": "tensor_map", "tensor": "k", "order": ["d", "s", "h", "b"],
       "box": [64, 80, 1, 1], "swizzle": "128B"}],
    "grid": ["min(ceildiv(seqlen_q, 128) * num_qo_heads * batch, 4 * multiprocessors)",
             "1", "1"],
    "block": [384, 1, 1],
    "dynamic_shared_memory": 100000}],
  "cost": {"flops": "4 * batch * num_qo_heads * visible_pairs * 64"},
  "files": {"ptx": "sample.ptx", "cubin": null, "ptx_sha256": "@PTX@"}
})json";
}

inline std::string sampleManifest(std::string_view image = kSampleImage) {
  return seal(sampleText(), image);
}

/// The sample with the first of each first text replaced by the second.
inline std::string
sampleWith(const std::vector<std::pair<std::string, std::string>> &changes,
           std::string_view image = kSampleImage) {
  std::string text = sampleText();
  for (const auto &[from, to] : changes) {
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos)
      text.replace(at, from.size(), to);
  }
  return seal(text, image);
}
inline std::string sampleWith(const std::string &from, const std::string &to,
                              std::string_view image = kSampleImage) {
  return sampleWith({{from, to}}, image);
}

inline Manifest parseSample(const std::string &text = sampleManifest()) {
  Expected<Manifest> manifest = parseManifest(text);
  if (!manifest) {
    ADD_FAILURE() << manifest.status().message();
    return {};
  }
  return std::move(*manifest);
}

/// A contiguous tensor.
inline TensorView makeTensor(const char *name, DevicePtr data,
                             std::initializer_list<int64_t> sizes) {
  TensorView tensor;
  tensor.name = name;
  tensor.data = data;
  tensor.rank = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), tensor.sizes.begin());
  int64_t stride = 1;
  for (int d = tensor.rank - 1; d >= 0; --d) {
    tensor.strides[d] = stride;
    stride *= tensor.sizes[d];
  }
  return tensor;
}

/// Contiguous tensors for the sample: 4 query heads over 2 key heads.
inline LaunchInputs sampleInputs(int64_t batch, int64_t queries, int64_t keys) {
  LaunchInputs inputs;
  inputs.tensors = {makeTensor("q", 0x10000, {batch, queries, 4, 64}),
                    makeTensor("k", 0x20000, {batch, keys, 2, 64}),
                    makeTensor("o", 0x30000, {batch, queries, 4, 64}),
                    makeTensor("lse", 0x40000, {batch, 4, queries}),
                    makeTensor("v", 0x50000, {batch, keys, 2, 64})};
  return inputs;
}

inline DeviceInfo sampleDevice() {
  DeviceInfo info;
  info.name = "sample device";
  info.major = 9;
  info.minor = 0;
  info.multiprocessors = 132;
  info.maxSharedBytes = 232448;
  return info;
}

} // namespace attn::runtime::test

#endif // ATTN_TEST_RUNTIME_SAMPLE_H
