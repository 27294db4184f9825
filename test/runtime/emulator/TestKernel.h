//===- TestKernel.h - Small PTX kernels on the emulator ---------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A test gives the body of a kernel; the rest is the same for all. The kernel
// has these names:
//
//   %in, %out      64-bit addresses: 8192 written bytes (64 rows of 64 16-bit
//                  floats), and 8192 bytes that were never written
//   %map           generic address of a tensor map of the input: 64 x 64,
//                  a box of 64 x 64, 128-byte swizzle
//   %omap          the same of the output
//   %t, %lane, %warp, %blk   32 bits
//   %smem          start of dynamic shared memory, a multiple of 1024
//   %r0-%r199, %f0-%f299, %d0-%d49 (64 bits), %h0-%h49 (16), %p0-%p19
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_EMULATOR_TESTKERNEL_H
#define ATTN_TEST_EMULATOR_TESTKERNEL_H

#include "runtime/emulator/Emulator.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace attn::test {

using namespace attn::runtime;

constexpr size_t bufferBytes = 8192;

struct KernelConfig {
  uint32_t blocks = 1;
  uint32_t threads = 32;
  uint32_t sharedBytes = 65536;
  uint64_t seed = 0;
  bool checks = true;
  bool counts = true;
  std::string target = "sm_90a";
  /// Directives of the entry, such as ".minnctapersm 1".
  std::string directives;
  /// Module-level declarations.
  std::string declarations;
  uint64_t maxInstructions = 20'000'000;
  /// 0 leaves %in as it is made; otherwise it is freed before the launch.
  bool freeInput = false;
  std::vector<uint8_t> input;
  size_t outputBytes = bufferBytes;
};

struct KernelResult {
  Status status = Status::ok();
  std::vector<uint8_t> output;
  emulator::Statistics statistics;

  template <typename T>
  T at(size_t index) const {
    T value;
    std::memcpy(&value, output.data() + index * sizeof(T), sizeof(T));
    return value;
  }
};

/// The whole module around a body.
inline std::string kernelText(const std::string &body,
                              const KernelConfig &config) {
  return ".version 8.6\n.target " + config.target +
         "\n.address_size 64\n"
         ".extern .shared .align 1024 .b8 dynamic[];\n" +
         config.declarations +
         ".visible .entry k(\n"
         "  .param .align 64 .b8 map[128],\n"
         "  .param .align 64 .b8 omap[128],\n"
         "  .param .u64 in,\n  .param .u64 out)\n" +
         ".maxntid " + std::to_string(config.threads) + ", 1, 1\n" +
         config.directives +
         "\n{\n"
         "  .reg .pred %p<20>;\n  .reg .b16 %h<50>;\n  .reg .b32 %r<200>;\n"
         "  .reg .b32 %f<300>;\n  .reg .b64 %d<50>;\n"
         "  .reg .b64 %in, %out, %map, %omap;\n"
         "  .reg .b32 %t, %lane, %warp, %blk, %smem;\n"
         "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n"
         "  mov.b64 %map, map;\n  cvta.param.u64 %map, %map;\n"
         "  mov.b64 %omap, omap;\n  cvta.param.u64 %omap, %omap;\n"
         "  mov.u32 %t, %tid.x;\n  mov.u32 %blk, %ctaid.x;\n"
         "  and.b32 %lane, %t, 31;\n  shr.u32 %warp, %t, 5;\n"
         "  mov.u32 %smem, dynamic;\n" +
         body + "\n}\n";
}

/// Element (row, column) of the input is ((row * 7 + column * 3) % 13) - 6 as
/// an f16.
inline uint16_t inputElement(unsigned row, unsigned column) {
  _Float16 value =
      static_cast<_Float16>(static_cast<int>((row * 7 + column * 3) % 13) - 6);
  uint16_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float inputValue(unsigned row, unsigned column) {
  return static_cast<float>(static_cast<int>((row * 7 + column * 3) % 13) - 6);
}

inline TensorMapDesc describeTensor(DevicePtr base) {
  TensorMapDesc desc;
  desc.element = ElementType::F16;
  desc.base = base;
  desc.rank = 2;
  desc.dims = {64, 64, 0, 0, 0};
  desc.strides = {128, 0, 0, 0};
  desc.box = {64, 64, 0, 0, 0};
  desc.swizzle = TensorMapSwizzle::B128;
  return desc;
}

inline KernelResult runKernelOnce(const std::string &body,
                                  const KernelConfig &config) {
  KernelResult result;
  EmulatorOptions options;
  options.checks = config.checks;
  options.counts = config.counts;
  options.seed = config.seed;
  options.maxInstructions = config.maxInstructions;
  std::unique_ptr<EmulatorDevice> device = createEmulator(options);
  std::vector<uint8_t> input = config.input;
  if (input.empty()) {
    for (unsigned i = 0; i < bufferBytes / 2; ++i) {
      uint16_t bits = inputElement(i / 64, i % 64);
      input.push_back(static_cast<uint8_t>(bits));
      input.push_back(static_cast<uint8_t>(bits >> 8));
    }
  }
  input.resize(std::max(input.size(), bufferBytes));
  result.output.resize(config.outputBytes);
  DevicePtr in = *device->allocate(input.size());
  DevicePtr out = *device->allocate(config.outputBytes);
  (void)device->copyToDevice(in, input.data(), input.size());
  TensorMap map = *device->encodeTensorMap(describeTensor(in));
  TensorMap outMap = *device->encodeTensorMap(describeTensor(out));
  Expected<std::unique_ptr<Module>> module =
      device->load(kernelText(body, config));
  if (!module) {
    result.status = module.status();
    return result;
  }
  if (config.freeInput)
    (void)device->free(in);
  LaunchConfig launch;
  launch.grid.x = config.blocks;
  launch.block.x = config.threads;
  launch.dynamicSharedBytes = config.sharedBytes;
  Kernel *kernel = *(*module)->kernel("k");
  result.status = kernel->launch(launch, {&map, &outMap, &in, &out});
  (void)device->copyToHost(result.output.data(), out, config.outputBytes);
  result.statistics = device->statistics();
  return result;
}

/// Runs the kernel with checks and, if that goes well, in the same order
/// without checks and counters, which is other code and has to give the same
/// bits.
inline KernelResult runKernel(const std::string &body,
                              const KernelConfig &config = {}) {
  KernelResult result = runKernelOnce(body, config);
  if (!config.checks || config.seed || !result.status.isOk())
    return result;
  KernelConfig unchecked = config;
  unchecked.checks = unchecked.counts = false;
  KernelResult quick = runKernelOnce(body, unchecked);
  if (!quick.status.isOk())
    result.status =
        Status::launchFailed("without checks: " + quick.status.message());
  else if (quick.output != result.output)
    result.status = Status::launchFailed("other bits without checks");
  return result;
}

/// `{%f8,%f9,...}`: `count` registers from `first`.
inline std::string registerList(const std::string &prefix, unsigned first,
                                unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? "," : "") + prefix + std::to_string(first + i);
  return text + "}";
}

/// Replaces every `$name` of the text.
inline std::string substitute(std::string text, const std::string &name,
                              const std::string &value) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;
       at += value.size())
    text.replace(at, name.size(), value);
  return text;
}

} // namespace attn::test

#endif // ATTN_TEST_EMULATOR_TESTKERNEL_H
