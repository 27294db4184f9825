//===- CpAsyncTest.cpp - cp.async, and what it moves ----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <gtest/gtest.h>

using namespace attn::test;
using attn::runtime::emulator::InstClass;

namespace {

TEST(CpAsync, SizesAndZeroFill) {
  // 16 bytes of which 6 are read, 8 bytes, 4 bytes, and one ignored.
  KernelConfig config;
  config.threads = 1;
  KernelResult result =
      runKernel("mov.u32 %r0, 6; setp.eq.u32 %p0, %t, 0;"
                "cp.async.cg.shared.global.L2::128B [%smem], [%in], 16, %r0;"
                "cp.async.ca.shared.global [%smem+16], [%in+8], 8;"
                "cp.async.ca.shared::cta.global [%smem+24], [%in+16], 4;"
                "cp.async.ca.shared.global [%smem+28], [%in], 4, 0;"
                "cp.async.commit_group; cp.async.wait_group 0;"
                "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%smem];"
                "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%smem+16];"
                "st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};"
                "st.global.v4.u32 [%out+16], {%r5, %r6, %r7, %r8};",
                config);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_EQ(result.at<uint16_t>(i), inputElement(0, i));
  for (unsigned i = 3; i < 8; ++i)
    EXPECT_EQ(result.at<uint16_t>(i), 0);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(result.at<uint16_t>(8 + i), inputElement(0, 4 + i));
  for (unsigned i = 0; i < 2; ++i)
    EXPECT_EQ(result.at<uint16_t>(12 + i), inputElement(0, 8 + i));
  EXPECT_EQ(result.at<uint32_t>(7), 0u);
}

TEST(CpAsync, ArrivesOnAnMbarrier) {
  KernelConfig config;
  config.threads = 64;
  // Warp 0 copies, warp 1 waits for its 32 lanes.
  KernelResult result = runKernel(
      "setp.eq.u32 %p8, %t, 0; add.u32 %r191, %smem, 57344;"
      "@!%p8 bra READY; mbarrier.init.shared::cta.b64 [%r191], 32; READY:"
      "bar.sync 0; setp.ne.u32 %p0, %warp, 0; @%p0 bra READER;"
      "mul.wide.u32 %d0, %t, 16; add.s64 %d0, %in, %d0; shl.b32 %r0, %t, 4;"
      "add.u32 %r0, %r0, %smem; cp.async.cg.shared.global [%r0], [%d0], 16;"
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r191]; ret;"
      "READER: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r191], 0;"
      "@!%p1 bra READER; shl.b32 %r0, %lane, 4; add.u32 %r0, %r0, %smem;"
      "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r0];"
      "mul.wide.u32 %d0, %lane, 16; add.s64 %d0, %out, %d0;"
      "st.global.v4.u32 [%d0], {%r1, %r2, %r3, %r4};",
      config);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned i = 0; i < 256; ++i)
    EXPECT_EQ(result.at<uint16_t>(i), inputElement(i / 64, i % 64));
}

TEST(CpAsync, WaitsForGroupsAfterAnArrival) {
  // The arrival on the mbarrier does not count as a group: with one group of
  // two copies, wait_group 1 waits for nothing.
  const char *body =
      "add.u32 %r191, %smem, 57344; mbarrier.init.shared.b64 [%r191], 2;"
      "cp.async.ca.shared.global [%smem], [%in], 4;"
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%r191];"
      "cp.async.ca.shared.global [%smem+4], [%in], 4;"
      "cp.async.commit_group; cp.async.wait_group $pending;"
      "ld.shared.u32 %r1, [%smem]; cp.async.wait_all;";
  KernelConfig config;
  config.threads = 1;
  config.target = "sm_80";
  EXPECT_TRUE(
      runKernel(substitute(body, "$pending", "0"), config).status.isOk());
  EXPECT_NE(runKernel(substitute(body, "$pending", "1"), config)
                .status.message()
                .find("expected a cp.async.wait_group that covers its group"),
            std::string::npos);
}

TEST(CpAsync, CountsWhatItReads) {
  // Lanes 0 to 7 copy 16 bytes, lanes 8 to 15 of theirs 4, the others none.
  KernelConfig config;
  config.target = "sm_80";
  KernelResult result = runKernel(
      "mul.wide.u32 %d0, %t, 32; add.s64 %d0, %in, %d0; shl.b32 %r0, %t, 4;"
      "add.u32 %r0, %r0, %smem; mov.u32 %r1, 0; setp.lt.u32 %p0, %t, 16;"
      "@%p0 mov.u32 %r1, 4; setp.lt.u32 %p0, %t, 8; @%p0 mov.u32 %r1, 16;"
      "cp.async.cg.shared.global [%r0], [%d0], 16, %r1; cp.async.wait_all;",
      config);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  const emulator::Statistics &s = result.statistics;
  EXPECT_EQ(s.global.readBytes, 8 * 16u + 8 * 4u);
  EXPECT_EQ(s.global.readSectorBytes, 16 * 32u);
  EXPECT_EQ(s.allocations.begin()->second.readBytes, 8 * 16u + 8 * 4u);
  EXPECT_EQ(s.allocations.begin()->second.readSectorBytes, 16 * 32u);
  EXPECT_EQ(s.shared.writtenBytes, 512u);
  // 8 lanes at a time fill all banks once.
  EXPECT_EQ(s.banks.wavefronts, 4u);
  EXPECT_EQ(s.banks.conflicts, 0u);
}

/// Rows of `pitch` bytes, of which a warp writes and reads the first 16 bytes,
/// with the chunk of 16 bytes permuted by the row where `swizzled`.
std::string rows(unsigned pitch, bool swizzled) {
  return "mov.u32 %r0, " + std::to_string(pitch) +
         "; mad.lo.u32 %r0, %lane, %r0, %smem; and.b32 %r1, %lane, 7;"
         "shl.b32 %r1, %r1, 4;" +
         (swizzled ? "xor.b32 %r0, %r0, %r1;" : "") +
         "mul.wide.u32 %d0, %t, 16; add.s64 %d0, %in, %d0;\n"
         "cp.async.cg.shared.global [%r0], [%d0], 16;\n"
         "cp.async.wait_all; bar.warp.sync -1;\n"
         "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r0];"
         "\nbar.warp.sync -1; st.shared.v4.b32 [%r0], {%r2, %r3, %r4, %r5};"
         "ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [%r0];";
}

TEST(BankConflicts, OfRowsThatAreEightLanesApart) {
  struct {
    unsigned pitch;
    bool swizzled;
    uint64_t conflicts;
  } cases[] = {
      // All 8 rows of a phase in the same 4 banks, two ways, none.
      {128, false, 7},
      {64, false, 3},
      {16, false, 0},
      // 16 bytes of padding, or a permutation of the chunks.
      {144, false, 0},
      {128, true, 0},
      {256, true, 0},
  };
  for (const auto &c : cases) {
    KernelConfig config;
    config.target = "sm_80";
    KernelResult result = runKernel(rows(c.pitch, c.swizzled), config);
    ASSERT_TRUE(result.status.isOk()) << result.status.message();
    const emulator::Statistics &s = result.statistics;
    for (InstClass cls : {InstClass::AsyncCopy, InstClass::MatrixLoad}) {
      const emulator::BankTraffic &banks = s.banksByClass[size_t(cls)];
      EXPECT_EQ(banks.conflicts, 4 * c.conflicts) << c.pitch;
      EXPECT_EQ(banks.wavefronts, 4 + 4 * c.conflicts) << c.pitch;
    }
    EXPECT_EQ(s.banksByClass[size_t(InstClass::LoadStore)].conflicts,
              8 * c.conflicts);
    EXPECT_EQ(s.banks.conflicts, 16 * c.conflicts);
    // The three lines that touch shared memory, in their order.
    const auto &lines = s.banksByLine.at("k");
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines.begin()->second.conflicts, 4 * c.conflicts);
    EXPECT_EQ(lines.rbegin()->second.conflicts, 8 * c.conflicts);
    EXPECT_NE(s.json().find("\"shared_by_line\": {\"k\": {\"" +
                            std::to_string(lines.begin()->first) +
                            "\": {\"wavefronts\": "),
              std::string::npos)
        << s.json();
  }
}

TEST(BankConflicts, LanesAreServedByTheirNumber) {
  // Of each 8 lanes that go together only one is on: nothing meets, though
  // all of them use the same banks.
  KernelResult result = runKernel(
      "and.b32 %r1, %lane, 7; setp.eq.u32 %p0, %r1, 0; shl.b32 %r0, %lane, 7;"
      "add.u32 %r0, %r0, %smem; mov.u32 %r1, 0;"
      "@%p0 st.shared.v4.b32 [%r0], {%r1, %r1, %r1, %r1};");
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  EXPECT_EQ(result.statistics.banks.wavefronts, 4u);
  EXPECT_EQ(result.statistics.banks.conflicts, 0u);
}

TEST(SharedMemory, IsLimitedByTheCapability) {
  struct {
    int major, minor;
    size_t bytes;
  } cases[] = {{8, 0, 166912}, {8, 6, 101376},  {8, 9, 101376},
               {9, 0, 232448}, {10, 0, 232448}, {12, 0, 101376}};
  for (const auto &c : cases) {
    EmulatorOptions options;
    options.major = c.major;
    options.minor = c.minor;
    std::unique_ptr<EmulatorDevice> device = createEmulator(options);
    EXPECT_EQ(device->info().maxSharedBytes, c.bytes);
    KernelConfig config;
    std::unique_ptr<Module> module =
        std::move(*device->load(kernelText("", config)));
    TensorMap map;
    DevicePtr pointer = 0;
    LaunchConfig launch;
    launch.dynamicSharedBytes = static_cast<uint32_t>(c.bytes) + 16;
    Status status = (*module->kernel("k"))
                        ->launch(launch, {&map, &map, &pointer, &pointer});
    EXPECT_NE(status.message().find("expected at most " +
                                    std::to_string(c.bytes) + " bytes"),
              std::string::npos)
        << status.message();
  }
}

} // namespace
