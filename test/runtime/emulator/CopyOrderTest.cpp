//===- CopyOrderTest.cpp - copy-order.ptx on the emulator -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What test/device/copy_order.py runs on a GPU. The proof that the ring of the
// sm_80 kernels orders copies and reads: README.md of the emulator.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Emulator.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace attn::runtime;

namespace {

constexpr uint32_t threads = 128, tiles = 9, words = 512;

/// Runs an entry; `sums` gets one of each thread.
Status runEntry(const std::string &entry, uint64_t seed,
                std::vector<uint32_t> &sums) {
  std::ifstream file(std::string(ATTN_TEST_SOURCE_DIR) +
                     "/Inputs/copy-order.ptx");
  std::stringstream text;
  text << file.rdbuf();
  EmulatorOptions options;
  options.seed = seed;
  std::unique_ptr<EmulatorDevice> device = createEmulator(options);
  std::vector<uint32_t> data(tiles * words);
  for (uint32_t i = 0; i < data.size(); ++i)
    data[i] = i * 2654435761u + 12345u;
  sums.assign(threads, 0);
  DevicePtr in = *device->allocate(4 * data.size());
  DevicePtr out = *device->allocate(4 * threads);
  (void)device->copyToDevice(in, data.data(), 4 * data.size());
  Expected<std::unique_ptr<Module>> module = device->load(text.str());
  if (!module)
    return module.status();
  LaunchConfig launch;
  launch.grid.x = 1;
  launch.block.x = threads;
  uint32_t count = tiles;
  Status status =
      (*(*module)->kernel(entry))->launch(launch, {&in, &out, &count});
  (void)device->copyToHost(sums.data(), out, 4 * threads);
  return status;
}

uint32_t expectedSum(uint32_t thread) {
  uint32_t sum = 0, piece = 4 * ((thread + 33) % threads);
  for (uint32_t tile = 0; tile < tiles; ++tile)
    for (uint32_t i = 0; i < 4; ++i)
      sum += (tile * words + piece + i) * 2654435761u + 12345u;
  return sum;
}

TEST(CopyOrder, IsProvenInTheRingAndByABarrier) {
  for (const char *entry : {"mbarrier", "barrier"})
    for (uint64_t seed = 0; seed < 8; ++seed) {
      std::vector<uint32_t> sums;
      Status status = runEntry(entry, seed, sums);
      ASSERT_TRUE(status.isOk()) << entry << ": " << status.message();
      for (uint32_t thread = 0; thread < threads; ++thread)
        ASSERT_EQ(sums[thread], expectedSum(thread)) << entry << thread;
    }
}

TEST(CopyOrder, IsMissedWhereNobodyWaits) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    std::vector<uint32_t> sums;
    Status status = runEntry("racy", seed, sums);
    EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
    EXPECT_NE(status.message().find("data race: "), std::string::npos)
        << status.message();
  }
}

} // namespace
