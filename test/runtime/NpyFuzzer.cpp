//===- NpyFuzzer.cpp - Bytes as an array file -----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  attn::runtime::Expected<attnc::NpyArray> array =
      attnc::parseNpy(std::string(reinterpret_cast<const char *>(data), size));
  double sum = 0;
  if (!array)
    return 0;
  for (int64_t i = 0; i < array->count(); ++i)
    sum += array->load(i);
  attn::runtime::TensorSpec spec;
  for (auto element :
       {attn::runtime::ElementType::BF16, attn::runtime::ElementType::F16,
        attn::runtime::ElementType::F32, attn::runtime::ElementType::I32}) {
    spec.element = element;
    attnc::HostTensor tensor = attnc::makeHostTensor(spec, array->shape);
    (void)attnc::storeNpy(*array, tensor);
  }
  return sum == 0.125 ? -1 : 0; // so that the loads are not optimised away
}
