//===- ptx-fuzzer.cpp - Any bytes as PTX: an error, never a crash ---------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Emulator.h"

#include <algorithm>

using namespace attn::runtime;

/// Parses and decodes, and runs an entry `k` of no parameters for a while.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  EmulatorOptions options;
  options.maxInstructions = 2000;
  std::unique_ptr<EmulatorDevice> device = createEmulator(options);
  Expected<std::unique_ptr<Module>> module = device->load(
      std::string_view(reinterpret_cast<const char *>(data), size));
  if (!module)
    return 0;
  Expected<Kernel *> kernel = (*module)->kernel("k");
  if (!kernel)
    return 0;
  LaunchConfig config;
  config.block.x = 32;
  config.dynamicSharedBytes = 1024;
  (void)(*kernel)->launch(config, {});
  return 0;
}
