//===- ManifestFuzzer.cpp - Bytes as a manifest ---------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any text must be refused or accepted, and what is accepted must bind or be
// refused too.
//
//===----------------------------------------------------------------------===//

#include "runtime/Arguments.h"

using namespace attn::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<Manifest> manifest = parseManifest(
      std::string_view(reinterpret_cast<const char *>(data), size));
  if (!manifest)
    return 0;
  LaunchInputs inputs;
  for (const TensorSpec &spec : manifest->tensors) {
    TensorView tensor;
    tensor.name = spec.name;
    tensor.data = 4096;
    tensor.rank = spec.rank();
    int64_t stride = 1;
    for (int d = spec.rank() - 1; d >= 0; --d) {
      tensor.sizes[d] = 8;
      tensor.strides[d] = stride;
      stride *= 8;
    }
    inputs.tensors.push_back(tensor);
  }
  DeviceInfo device;
  device.multiprocessors = 132;
  (void)bool(bindLaunch(*manifest, device, inputs));
  return 0;
}
