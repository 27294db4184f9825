//===- CopyTest.cpp - TMA and bulk copies ---------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <gtest/gtest.h>

using namespace attn::test;

namespace {

uint16_t halfOf(int value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

/// A device with a tensor of known elements, for maps of any shape.
class TensorCopy : public testing::Test {
protected:
  /// Loads a box at `coordinates` and returns shared memory as it was left.
  std::vector<uint16_t> loadBox(const TensorMapDesc &desc,
                                const std::vector<int> &coordinates) {
    std::string rank = std::to_string(desc.rank);
    uint64_t bytes = 2;
    for (int i = 0; i < desc.rank; ++i)
      bytes *= desc.box[i];
    std::string text;
    for (size_t i = 0; i < coordinates.size(); ++i)
      text += (i ? ", " : "") + std::to_string(coordinates[i]);
    std::string body =
        "add.u32 %r191, %smem, 57344;"
        "mbarrier.init.shared::cta.b64 [%r191], 1;"
        "fence.mbarrier_init.release.cluster;"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r191], " +
        std::to_string(bytes) + "; cp.async.bulk.tensor." + rank +
        "d.shared::cluster.global.mbarrier::complete_tx::bytes [%smem], "
        "[%map, {" +
        text +
        "}], [%r191]; W: mbarrier.try_wait.parity.shared::cta.b64 %p0, "
        "[%r191], 0; @!%p0 bra W;" +
        copyOut(bytes);
    return run(body, desc, bytes);
  }

  static std::string copyOut(uint64_t bytes) {
    return "mov.u32 %r0, 0; LOOP: add.u32 %r1, %smem, %r0;"
           "ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];"
           "cvt.u64.u32 %d0, %r0; add.s64 %d0, %out, %d0;"
           "st.global.v4.u32 [%d0], {%r2, %r3, %r4, %r5};"
           "add.u32 %r0, %r0, 16; setp.lt.u32 %p1, %r0, " +
           std::to_string(bytes) + "; @%p1 bra LOOP;";
  }

  std::vector<uint16_t> run(const std::string &body, const TensorMapDesc &desc,
                            uint64_t bytes) {
    KernelConfig config;
    config.threads = 1;
    Expected<std::unique_ptr<Module>> module =
        device->load(kernelText(body, config));
    EXPECT_TRUE(module) << module.status().message();
    Expected<TensorMap> map = device->encodeTensorMap(desc);
    EXPECT_TRUE(map) << map.status().message();
    LaunchConfig launch;
    launch.dynamicSharedBytes = 65536;
    Status status = (*(*module)->kernel("k"))
                        ->launch(launch, {&*map, &*map, &tensor, &out});
    EXPECT_TRUE(status.isOk()) << status.message();
    std::vector<uint16_t> result(bytes / 2);
    (void)device->copyToHost(result.data(), out, bytes);
    return result;
  }

  void SetUp() override {
    std::vector<uint16_t> elements(elementCount);
    for (size_t i = 0; i < elementCount; ++i)
      elements[i] = halfOf(static_cast<int>(i % 2000) + 1);
    tensor = *device->allocate(elementCount * 2);
    out = *device->allocate(65536);
    (void)device->copyToDevice(tensor, elements.data(), elementCount * 2);
  }

  /// Rows of 40 elements, 5 apart from the next in 48, planes of 10 rows.
  TensorMapDesc describe() const {
    TensorMapDesc desc;
    desc.element = ElementType::F16;
    desc.base = tensor;
    desc.rank = 3;
    desc.dims = {40, 10, 3, 0, 0};
    desc.strides = {96, 960, 0, 0};
    desc.box = {16, 8, 2, 0, 0};
    return desc;
  }

  static uint16_t expected(int x, int y, int z) {
    if (x < 0 || y < 0 || z < 0 || x >= 40 || y >= 10 || z >= 3)
      return 0;
    return halfOf((x + 48 * y + 480 * z) % 2000 + 1);
  }

  static constexpr size_t elementCount = 1536;
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  DevicePtr tensor = 0, out = 0;
};

TEST_F(TensorCopy, BoxesAnywhereAreZeroFilledOutside) {
  TensorMapDesc desc = describe();
  for (std::vector<int> at : std::vector<std::vector<int>>{{0, 0, 0},
                                                           {24, 2, 1},
                                                           {32, 5, 2},
                                                           {-7, -3, -1},
                                                           {-16, 0, 0},
                                                           {40, 0, 0},
                                                           {3, 1000, 0}}) {
    std::vector<uint16_t> box = loadBox(desc, at);
    for (int z = 0; z < 2; ++z)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 16; ++x)
          ASSERT_EQ(box[(z * 8 + y) * 16 + x],
                    expected(at[0] + x, at[1] + y, at[2] + z))
              << at[0] << "," << at[1] << "," << at[2] << " at " << x << ","
              << y << "," << z;
  }
}

TEST_F(TensorCopy, SwizzlesPermuteChunksOfSixteenBytes) {
  struct {
    TensorMapSwizzle swizzle;
    unsigned bytes, mask;
  } modes[] = {{TensorMapSwizzle::B32, 32, 1},
               {TensorMapSwizzle::B64, 64, 3},
               {TensorMapSwizzle::B128, 128, 7}};
  for (const auto &mode : modes) {
    TensorMapDesc desc = describe();
    desc.swizzle = mode.swizzle;
    unsigned columns = mode.bytes / 2;
    desc.box = {columns, 8, 2, 0, 0};
    std::vector<uint16_t> box = loadBox(desc, {0, 0, 0});
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned x = 0; x < columns; ++x) {
        // Bits 4 to 6 of the address change with the 128-byte line.
        unsigned line = row * mode.bytes / 128;
        unsigned within = row * mode.bytes % 128 + x * 2;
        unsigned chunk = within / 16 ^ (line % 8 & mode.mask);
        unsigned at = line * 128 + chunk * 16 + within % 16;
        ASSERT_EQ(box[at / 2],
                  expected(static_cast<int>(x), static_cast<int>(row % 8),
                           static_cast<int>(row / 8)))
            << mode.bytes << " row " << row << " column " << x;
      }
  }
}

TEST_F(TensorCopy, StrideZeroBroadcasts) {
  TensorMapDesc desc = describe();
  desc.strides[0] = 0;
  std::vector<uint16_t> box = loadBox(desc, {0, 0, 0});
  for (int y = 0; y < 8; ++y)
    EXPECT_EQ(box[y * 16 + 3], expected(3, 0, 0));
}

TEST(TensorStore, ClipsAtTheEdgeAndReduces) {
  KernelConfig config;
  config.threads = 128;
  // Every thread writes 64 bytes of ones; the box goes to rows 60 to 123.
  std::string ones =
      "mov.u32 %r190, 0; mov.u32 %r192, 60; setp.eq.u32 %p8, %t, 0;"
      "shl.b32 %r0, %t, 6; add.u32 %r0, %r0, %smem; mov.u32 %r1, 0;"
      "mov.u32 %r2, 0x3c003c00;"
      "FILL: st.shared.v4.u32 [%r0], {%r2, %r2, %r2, %r2};"
      "add.u32 %r0, %r0, 16; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 4;"
      "@%p0 bra FILL; fence.proxy.async.shared::cta; bar.sync 0;";
  std::string finish = "@%p8 cp.async.bulk.commit_group;"
                       "@%p8 cp.async.bulk.wait_group 0; bar.sync 0;";
  std::string read = "mul.wide.u32 %d0, %t, 64; add.s64 %d1, %in, %d0;"
                     "add.s64 %d0, %out, %d0; mov.u32 %r1, 0;"
                     "READ: ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d1];"
                     "st.global.v4.u32 [%d0], {%r2, %r3, %r4, %r5};"
                     "add.s64 %d0, %d0, 16; add.s64 %d1, %d1, 16;"
                     "add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 4;"
                     "@%p0 bra READ;";
  for (bool reduce : {false, true}) {
    KernelResult result = runKernel(
        ones +
            (reduce ? "@%p8 cp.reduce.async.bulk.tensor.2d.global.shared::cta."
                      "add.tile.bulk_group [%map, {%r190, %r192}], [%smem];"
                    : "@%p8 cp.async.bulk.tensor.2d.global.shared::cta."
                      "bulk_group [%map, {%r190, %r192}], [%smem];") +
            finish + read,
        config);
    ASSERT_TRUE(result.status.isOk()) << result.status.message();
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned column = 0; column < 64; ++column) {
        float before = inputValue(row, column);
        float value = row < 60 ? before : reduce ? before + 1 : 1;
        EXPECT_EQ(result.at<uint16_t>(row * 64 + column),
                  halfOf(static_cast<int>(value)))
            << row << " " << column;
      }
  }
}

TEST(BulkCopy, BothWays) {
  KernelResult result = runKernel(
      "add.u32 %r191, %smem, 57344; setp.eq.u32 %p8, %t, 0;"
      "@!%p8 bra READY; mbarrier.init.shared::cta.b64 [%r191], 1;"
      "fence.mbarrier_init.release.cluster; READY: bar.sync 0;"
      "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r191], 256;"
      "@%p8 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%smem], [%in], 256, [%r191];"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r191], 0;"
      "@!%p0 bra W;"
      "@%p8 cp.async.bulk.global.shared::cta.bulk_group [%out], [%smem], 256;"
      "@%p8 cp.async.bulk.commit_group; @%p8 cp.async.bulk.wait_group 0;");
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned i = 0; i < 128; ++i)
    EXPECT_EQ(result.at<uint16_t>(i), inputElement(i / 64, i % 64));
}

} // namespace
