//===- DeviceTest.cpp - The emulator through the device interface ---------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <gtest/gtest.h>

using namespace attn::test;

namespace {

testing::AssertionResult says(const Status &status, StatusCode code,
                              const std::string &part) {
  if (status.code() == code && status.message().find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "code " << int(status.code()) << ": " << status.message();
}

TEST(Allocation, HugeOnesCostOnlyWhatIsTouched) {
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  Expected<DevicePtr> huge = device->allocate(size_t(64) << 30);
  ASSERT_TRUE(huge) << huge.status().message();
  DevicePtr far = *huge + (uint64_t(63) << 30);
  uint32_t value = 42, back = 0;
  EXPECT_TRUE(device->copyToDevice(far, &value, 4).isOk());
  EXPECT_TRUE(device->copyToHost(&back, far, 4).isOk());
  EXPECT_EQ(back, 42u);
  EXPECT_TRUE(device->free(*huge).isOk());
}

TEST(Allocation, EmptyOneIsNull) {
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  EXPECT_EQ(*device->allocate(0), 0u);
  EXPECT_TRUE(device->free(0).isOk());
  EXPECT_TRUE(device->copyToDevice(0, nullptr, 0).isOk());
}

TEST(Allocation, MisuseIsRefused) {
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  DevicePtr pointer = *device->allocate(100);
  char bytes[200] = {};
  EXPECT_TRUE(says(device->copyToDevice(pointer, bytes, 101),
                   StatusCode::InvalidArgument, "past the end of"));
  EXPECT_TRUE(says(device->copyToHost(bytes, pointer + 100, 1),
                   StatusCode::InvalidArgument, "0 bytes past the end"));
  EXPECT_TRUE(says(device->free(pointer + 8), StatusCode::InvalidArgument,
                   "expected the base of an allocation"));
  EXPECT_TRUE(device->free(pointer).isOk());
  EXPECT_TRUE(
      says(device->free(pointer), StatusCode::InvalidArgument, "freed before"));
  EXPECT_TRUE(says(device->copyToHost(bytes, pointer, 1),
                   StatusCode::InvalidArgument, "which was freed"));
}

TEST(TensorMaps, AreValidatedLikeTheDriver) {
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  TensorMapDesc good = describeTensor(*device->allocate(bufferBytes));
  EXPECT_TRUE(device->encodeTensorMap(good));
  auto refused = [&](void (*change)(TensorMapDesc &), const char *part) {
    TensorMapDesc desc = good;
    change(desc);
    Expected<TensorMap> map = device->encodeTensorMap(desc);
    if (map)
      return testing::AssertionFailure() << "accepted";
    return says(map.status(), StatusCode::InvalidArgument, part);
  };
  EXPECT_TRUE(
      refused([](TensorMapDesc &d) { d.rank = 0; }, "rank from 1 to 5"));
  EXPECT_TRUE(
      refused([](TensorMapDesc &d) { d.rank = 6; }, "rank from 1 to 5"));
  EXPECT_TRUE(refused([](TensorMapDesc &d) { d.base += 8; },
                      "base address that is a multiple of 16"));
  EXPECT_TRUE(refused([](TensorMapDesc &d) { d.dims[1] = 0; },
                      "extent of dimension 1"));
  EXPECT_TRUE(refused([](TensorMapDesc &d) { d.box[1] = 257; },
                      "box extent of dimension 1 from 1 to 256, but got 257"));
  EXPECT_TRUE(refused([](TensorMapDesc &d) { d.box[0] = 0; }, "box extent"));
  EXPECT_TRUE(refused([](TensorMapDesc &d) { d.strides[0] = 136; },
                      "multiple of 16 bytes and less than 2^40"));
  EXPECT_TRUE(refused(
      [](TensorMapDesc &d) { d.strides[0] = uint64_t(1) << 40; }, "2^40"));
  EXPECT_TRUE(refused([](TensorMapDesc &d) { d.box[0] = 4; },
                      "rows are a multiple of 16 bytes"));
  EXPECT_TRUE(refused([](TensorMapDesc &d) { d.box[0] = 128; },
                      "at most 128 bytes for this swizzle, but got 256"));
}

TEST(Modules, WhatIsNoPtxIsRefused) {
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  EXPECT_TRUE(says(device
                       ->load("\x7f"
                              "ELF...")
                       .status(),
                   StatusCode::Unsupported, "a binary for a GPU"));
  EXPECT_TRUE(says(device->load("hello").status(), StatusCode::InvalidArgument,
                   "expected a .version directive"));
  KernelConfig config;
  std::unique_ptr<Module> module =
      std::move(*device->load(kernelText("", config)));
  EXPECT_TRUE(says(module->kernel("other").status(),
                   StatusCode::InvalidArgument,
                   "expected an entry of the module (k), but got 'other'"));
}

TEST(Launches, AreCheckedBefore) {
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  KernelConfig config;
  config.threads = 64;
  std::unique_ptr<Module> module =
      std::move(*device->load(kernelText("", config)));
  Kernel *kernel = *module->kernel("k");
  TensorMap map;
  DevicePtr pointer = 0;
  std::vector<void *> arguments = {&map, &map, &pointer, &pointer};
  LaunchConfig launch;
  launch.block.x = 64;
  EXPECT_TRUE(kernel->launch(launch, arguments).isOk());
  EXPECT_TRUE(says(kernel->launch(launch, {&map}), StatusCode::InvalidArgument,
                   "expected 4 arguments, but got 1"));
  launch.block.x = 96;
  EXPECT_TRUE(says(kernel->launch(launch, arguments),
                   StatusCode::InvalidArgument, ".maxntid"));
  launch.block.x = 0;
  EXPECT_TRUE(says(kernel->launch(launch, arguments),
                   StatusCode::InvalidArgument, "1 to 1024 threads"));
  launch.block.x = 64;
  launch.grid.y = 65536;
  EXPECT_TRUE(says(kernel->launch(launch, arguments),
                   StatusCode::InvalidArgument, "65535"));
  launch.grid.y = 1;
  launch.dynamicSharedBytes = 232449;
  EXPECT_TRUE(says(kernel->launch(launch, arguments),
                   StatusCode::InvalidArgument, "at most 232448 bytes"));
}

TEST(Launches, WithoutChecksBoundsStillHold) {
  KernelConfig config;
  config.checks = false;
  KernelResult result = runKernel("ld.global.u32 %r0, [%in+8192];", config);
  EXPECT_TRUE(says(result.status, StatusCode::LaunchFailed, "out-of-bounds"));
  // A race goes unseen then.
  result = runKernel("st.shared.u32 [%smem], %t;", config);
  EXPECT_TRUE(result.status.isOk()) << result.status.message();
}

TEST(Launches, RandomOrdersAreReproducible) {
  // The order of the blocks' atomics shows in what each one reads.
  auto order = [](uint64_t seed) {
    KernelConfig config;
    config.blocks = 8;
    config.threads = 1;
    config.seed = seed;
    config.input.assign(bufferBytes, 0);
    KernelResult result =
        runKernel("atom.global.add.u32 %r0, [%in], 1; mul.wide.u32 %d0, %blk, "
                  "4; add.s64 %d0, %out, %d0; st.global.u32 [%d0], %r0;",
                  config);
    EXPECT_TRUE(result.status.isOk()) << result.status.message();
    return std::vector<uint8_t>(result.output.begin(),
                                result.output.begin() + 32);
  };
  EXPECT_EQ(order(5), order(5));
  EXPECT_NE(order(0), order(5));
}

TEST(Statistic, CountsBytesConflictsAndClasses) {
  KernelResult result = runKernel(
      "mul.wide.u32 %d0, %t, 4; add.s64 %d1, %in, %d0; add.s64 %d2, %out, %d0;"
      "ld.global.u32 %r0, [%d1]; st.global.u32 [%d2], %r0;"
      // A stride of 128 bytes puts all lanes on one bank.
      "shl.b32 %r1, %t, 7; add.u32 %r1, %r1, %smem; st.shared.u32 [%r1], %t;"
      "ex2.approx.ftz.f32 %f0, %f0; shfl.sync.bfly.b32 %r2, %t, 1, 31, -1;");
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  const emulator::Statistics &s = result.statistics;
  EXPECT_EQ(s.launches, 1u);
  EXPECT_EQ(s.blocks, 1u);
  EXPECT_EQ(s.global.readBytes, 128u);
  EXPECT_EQ(s.global.readSectorBytes, 128u);
  EXPECT_EQ(s.global.writtenBytes, 128u);
  EXPECT_EQ(s.shared.writtenBytes, 128u);
  EXPECT_EQ(s.banks.wavefronts, 32u);
  EXPECT_EQ(s.banks.conflicts, 31u);
  EXPECT_EQ(s.byClass[size_t(emulator::InstClass::SpecialFunction)], 1u);
  EXPECT_EQ(s.byClass[size_t(emulator::InstClass::Shuffle)], 1u);
  ASSERT_EQ(s.allocations.size(), 2u);
  EXPECT_EQ(s.allocations.begin()->second.readBytes, 128u);
  EXPECT_EQ(s.allocations.rbegin()->second.writtenBytes, 128u);
  EXPECT_NE(s.json().find("\"shared_bank_conflicts\": 31"), std::string::npos);
}

} // namespace
