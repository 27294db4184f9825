//===- WarpTest.cpp - Lanes, branches, barriers, memory -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <functional>
#include <gtest/gtest.h>

using namespace attn::test;

namespace {

/// Runs a body that leaves a word of each thread in %r10 and compares.
void expectLanes(const std::string &body,
                 const std::function<uint32_t(unsigned)> &expected,
                 KernelConfig config = {}) {
  std::string text = body + "mov.u32 %r199, %ntid.x;"
                            "mad.lo.u32 %r199, %blk, %r199, %t;"
                            "mul.wide.u32 %d49, %r199, 4;"
                            "add.s64 %d49, %out, %d49;"
                            "st.global.u32 [%d49], %r10;";
  KernelResult result = runKernel(text, config);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned i = 0; i < config.threads * config.blocks; ++i)
    EXPECT_EQ(result.at<uint32_t>(i), expected(i)) << "thread " << i;
}

std::string predicateInto(const std::string &instruction) {
  return instruction + "selp.u32 %r10, 1, 0, %p0;";
}

// Shuffles: clamp and segment come from the third operand.

TEST(Shuffle, Butterfly) {
  expectLanes("shfl.sync.bfly.b32 %r10, %t, 5, 31, -1;",
              [](unsigned lane) { return lane ^ 5; });
}

TEST(Shuffle, UpKeepsTheFirstLanes) {
  expectLanes("shfl.sync.up.b32 %r10|%p0, %t, 3, 0, -1; @!%p0 add.u32 %r10, "
              "%r10, 100;",
              [](unsigned lane) { return lane < 3 ? lane + 100 : lane - 3; });
}

TEST(Shuffle, DownWithinSegmentsOfEight) {
  // Segments of 8: mask 0x18, clamp 31.
  expectLanes("shfl.sync.down.b32 %r10|%p0, %t, 2, 0x181f, -1;",
              [](unsigned lane) { return lane % 8 + 2 < 8 ? lane + 2 : lane; });
}

TEST(Shuffle, IndexWithinSegmentsOfFour) {
  expectLanes("shfl.sync.idx.b32 %r10, %t, 1, 0x1c1f, -1;",
              [](unsigned lane) { return lane / 4 * 4 + 1; });
}

TEST(Vote, AllAnyUniformBallot) {
  std::string less = "setp.lt.u32 %p1, %t, 20;";
  expectLanes(predicateInto(less + "vote.sync.all.pred %p0, %p1, -1;"),
              [](unsigned) { return 0; });
  expectLanes(predicateInto(less + "vote.sync.any.pred %p0, %p1, -1;"),
              [](unsigned) { return 1; });
  expectLanes(predicateInto(less + "vote.sync.uni.pred %p0, %p1, -1;"),
              [](unsigned) { return 0; });
  expectLanes(less + "vote.sync.ballot.b32 %r10, !%p1, -1;",
              [](unsigned) { return 0xfff00000u; });
}

TEST(Elect, PicksTheLowestLane) {
  expectLanes(predicateInto("elect.sync _|%p0, -1;"),
              [](unsigned lane) { return lane == 0; });
}

TEST(Match, AnyAndAll) {
  expectLanes("and.b32 %r0, %t, 3; match.any.sync.b32 %r10, %r0, -1;",
              [](unsigned lane) { return 0x11111111u << lane % 4; });
  expectLanes("mov.u32 %r0, 9; match.all.sync.b32 %r10|%p0, %r0, -1;",
              [](unsigned) { return 0xffffffffu; });
}

TEST(Redux, AddMaxAnd) {
  expectLanes("redux.sync.add.u32 %r10, %t, -1;", [](unsigned) { return 496; });
  expectLanes("sub.s32 %r0, %t, 10; redux.sync.min.s32 %r10, %r0, -1;",
              [](unsigned) { return static_cast<uint32_t>(-10); });
  expectLanes("or.b32 %r0, %t, 64; redux.sync.and.b32 %r10, %r0, -1;",
              [](unsigned) { return 64; });
}

TEST(LaneRegisters, MasksAndIds) {
  expectLanes(
      "mov.u32 %r0, %lanemask_lt; mov.u32 %r1, %lanemask_ge;"
      "xor.b32 %r10, %r0, %r1; mov.u32 %r2, %laneid;"
      "add.u32 %r10, %r10, %r2; mov.u32 %r3, %warpid;"
      "add.u32 %r10, %r10, %r3;",
      [](unsigned thread) { return 0xffffffffu + thread % 32 + thread / 32; },
      [] {
        KernelConfig config;
        config.threads = 64;
        return config;
      }());
}

// Control flow.

TEST(Divergence, LoopsOfDifferentLengthMeetAgain) {
  // Each lane counts to its own number; afterwards all are together.
  expectLanes("mov.u32 %r10, 0; LOOP: setp.ge.u32 %p0, %r10, %t;"
              "@%p0 bra DONE; add.u32 %r10, %r10, 1; bra.uni LOOP; DONE:"
              "activemask.b32 %r0; setp.ne.u32 %p1, %r0, -1;"
              "@%p1 mov.u32 %r10, 999;",
              [](unsigned lane) { return lane; });
}

TEST(Divergence, NestedBranches) {
  expectLanes("mov.u32 %r10, 0; and.b32 %r0, %t, 1; and.b32 %r1, %t, 2;"
              "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r1, 0;"
              "@%p0 bra EVEN; add.u32 %r10, %r10, 1; @%p1 bra INNER;"
              "add.u32 %r10, %r10, 10; INNER: add.u32 %r10, %r10, 100; bra END;"
              "EVEN: @%p1 bra END; add.u32 %r10, %r10, 1000; END:"
              "activemask.b32 %r2; popc.b32 %r2, %r2; sub.u32 %r2, %r2, 32;"
              "add.u32 %r10, %r10, %r2;",
              [](unsigned lane) {
                if (lane & 1)
                  return 101u + (lane & 2 ? 10 : 0);
                return lane & 2 ? 1000u : 0u;
              });
}

TEST(Divergence, LanesThatEndEarly) {
  KernelConfig config;
  config.input.assign(bufferBytes, 0);
  KernelResult result =
      runKernel("setp.lt.u32 %p0, %t, 31; @%p0 ret; activemask.b32 %r0;"
                "bar.sync 0; st.global.u32 [%out], %r0;",
                config);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  EXPECT_EQ(result.at<uint32_t>(0), 0x80000000u);
}

TEST(Divergence, APartOfAWarpMayWaitForAnother) {
  // Lane 1 spins on what lane 0 writes: both must make progress.
  KernelConfig config;
  config.input.assign(bufferBytes, 0);
  KernelResult result = runKernel(
      "setp.eq.u32 %p0, %t, 0; @%p0 bra WRITER;"
      "SPIN: ld.acquire.gpu.global.u32 %r0, [%in]; setp.eq.u32 %p1, %r0, 0;"
      "@%p1 bra SPIN; bra END;"
      "WRITER: st.release.gpu.global.u32 [%in], 1; END: ret;",
      config);
  EXPECT_TRUE(result.status.isOk()) << result.status.message();
}

TEST(Divergence, APartThatHadNoTurnIsWaitedFor) {
  // All other warps poll for what warp 0 does behind the join. However few
  // turns it gets meanwhile, its lanes meet: some of them have yet to act.
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    KernelConfig config;
    config.threads = 256;
    config.seed = seed;
    KernelResult result =
        runKernel("setp.ne.u32 %p0, %t, 0; @%p0 bra START;"
                  "mbarrier.init.shared.b64 [%smem], 32; START: bar.sync 0;"
                  "setp.ne.u32 %p1, %warp, 0; @%p1 bra WAIT;"
                  "setp.gt.u32 %p2, %lane, 3; @%p2 bra MEET;"
                  "mov.u32 %r0, 0; LOOP: add.u32 %r0, %r0, 1;"
                  "setp.lt.u32 %p3, %r0, 100; @%p3 bra LOOP;"
                  "MEET: shfl.sync.idx.b32 %r1, %t, 0, 31, -1;"
                  "mbarrier.arrive.shared.b64 %d0, [%smem]; bra.uni END;"
                  "WAIT: mbarrier.test_wait.parity.shared.b64 %p4, [%smem], 0;"
                  "@!%p4 bra WAIT; END: ret;",
                  config);
    EXPECT_TRUE(result.status.isOk())
        << "seed " << seed << ": " << result.status.message();
  }
}

TEST(Branch, Indexed) {
  expectLanes("TABLE: .branchtargets A, B, C; mov.u32 %r0, 1;"
              "brx.idx %r0, TABLE; A: mov.u32 %r10, 5; bra END;"
              "B: mov.u32 %r10, 6; bra END; C: mov.u32 %r10, 7; END:",
              [](unsigned) { return 6; });
}

TEST(Branch, IndexedInEveryDirection) {
  expectLanes("TABLE: .branchtargets A, B, C, A; and.b32 %r0, %t, 3;"
              "setp.lt.u32 %p0, %t, 28; @%p0 brx.idx %r0, TABLE;"
              "mov.u32 %r10, 9; bra END; A: mov.u32 %r10, 5; bra END;"
              "B: mov.u32 %r10, 6; bra END; C: mov.u32 %r10, 7; END:"
              "activemask.b32 %r1; not.b32 %r1, %r1; add.u32 %r10, %r10, %r1;",
              [](unsigned lane) { return lane >= 28 ? 9u : 5 + lane % 4 % 3; });
}

TEST(Scope, InlineAssemblyHasItsOwnNames) {
  expectLanes("{ .reg .pred p; .reg .b32 %r0; setp.eq.u32 p, %t, 3;"
              "mov.u32 %r0, 4; selp.u32 %r10, %r0, 0, p; bra L; L: }"
              "{ .reg .pred p; setp.eq.u32 p, %t, 4; @p bra L; bra M;"
              "L: mov.u32 %r10, 8; M: }",
              [](unsigned lane) {
                return lane == 3 ? 4u : lane == 4 ? 8u : 0u;
              });
}

// Barriers.

TEST(NamedBarrier, ReductionsOverTheBlock) {
  KernelConfig config;
  config.threads = 96;
  std::string predicate = "setp.lt.u32 %p1, %t, 40;";
  expectLanes(
      predicate + "barrier.cta.red.popc.aligned.u32 %r10, 0, %p1;",
      [](unsigned) { return 40; }, config);
  expectLanes(
      predicateInto(predicate + "bar.red.or.pred %p0, 1, 96, %p1;"),
      [](unsigned) { return 1; }, config);
  expectLanes(
      predicateInto(predicate + "bar.red.and.pred %p0, 1, 96, %p1;"),
      [](unsigned) { return 0; }, config);
}

TEST(Mbarrier, PhasesAndStates) {
  // Two phases of 32 arrivals; the state of the first is over in the second.
  expectLanes("setp.ne.u32 %p9, %t, 0; @%p9 bra READY;"
              "mbarrier.init.shared::cta.b64 [%smem], 32; READY:"
              "bar.sync 0; mbarrier.arrive.shared::cta.b64 %d0, [%smem];"
              "W0: mbarrier.try_wait.shared::cta.b64 %p0, [%smem], %d0;"
              "@!%p0 bra W0; mbarrier.test_wait.parity.shared::cta.b64 %p1, "
              "[%smem], 1; selp.u32 %r0, 1, 0, %p1;"
              "mbarrier.arrive.release.cta.shared::cta.b64 _, [%smem];"
              "W1: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, "
              "[%smem], 1, 1000; @!%p2 bra W1;"
              "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%smem], 0;"
              "selp.u32 %r1, 2, 0, %p3; add.u32 %r10, %r0, %r1;",
              // Neither test may succeed: each asks for the phase that is
              // still open.
              [](unsigned) { return 0; });
}

// Memory.

TEST(Memory, NarrowLoadsExtend) {
  KernelConfig config;
  config.input = {0x80, 0xff, 0x7f, 0x01};
  expectLanes(
      "ld.global.s8 %r0, [%in]; ld.global.u8 %r1, [%in];"
      "ld.global.s16 %r2, [%in]; ld.global.u16 %r3, [%in+2];"
      "add.u32 %r10, %r0, %r1; add.u32 %r10, %r10, %r2;"
      "add.u32 %r10, %r10, %r3;",
      [](unsigned) { return static_cast<uint32_t>(-128 + 128 - 128 + 0x017f); },
      config);
}

TEST(Memory, VectorsAndSpaces) {
  expectLanes("shl.b32 %r0, %t, 4; add.u32 %r0, %r0, %smem;"
              "st.shared.v4.u32 [%r0], {%t, 1, 2, 3};"
              "ld.shared.v2.u32 {%r1, %r2}, [%r0+8];"
              "cvt.u64.u32 %d0, %r0; cvta.shared.u64 %d0, %d0;"
              "ld.u32 %r3, [%d0]; mad.lo.u32 %r10, %r1, 100, %r2;"
              "add.u32 %r10, %r10, %r3;",
              [](unsigned lane) { return 203 + lane; });
}

TEST(Memory, LocalConstantAndGlobalVariables) {
  KernelConfig config;
  config.declarations = ".const .align 4 .u32 table[3] = {11, 22, 33};\n"
                        ".global .align 4 .u32 counter = 5;\n";
  expectLanes(
      ".local .align 8 .b8 stack[64]; mov.u64 %d0, stack;"
      "cvta.local.u64 %d1, %d0; st.u32 [%d1+4], %t;"
      "ld.local.u32 %r0, [%d0+4]; ld.const.u32 %r1, [table+8];"
      "mov.u64 %d2, counter; ld.global.u32 %r2, [%d2];"
      "add.u32 %r10, %r0, %r1; add.u32 %r10, %r10, %r2;",
      [](unsigned lane) { return lane + 38; }, config);
}

TEST(Atomics, SumOverBlocksAndOldValues) {
  KernelConfig config;
  config.blocks = 5;
  config.threads = 64;
  config.input.assign(bufferBytes, 0);
  KernelResult result = runKernel(
      "red.global.add.u32 [%in], 3; atom.global.add.f32 %r0, [%in+8], "
      "0f3F800000; atom.global.max.s32 %r1, [%in+4], %t; bar.sync 0;"
      "setp.ne.u32 %p0, %t, 0; @%p0 ret; membar.gl;"
      "atom.global.inc.u32 %r2, [%in+12], 4; setp.ne.u32 %p1, %r2, 4;"
      "@%p1 ret; membar.gl; ld.relaxed.gpu.global.u32 %r3, [%in];"
      "ld.relaxed.gpu.global.u32 %r4, [%in+8];"
      "ld.relaxed.gpu.global.u32 %r5, [%in+4];"
      "st.global.v4.u32 [%out], {%r3, %r4, %r5, %r5};",
      config);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  EXPECT_EQ(result.at<uint32_t>(0), 3u * 5 * 64);
  EXPECT_EQ(result.at<float>(1), 320.0f);
  EXPECT_EQ(result.at<uint32_t>(2), 63u);
}

TEST(Atomics, CompareAndSwapTakesTurns) {
  KernelConfig config;
  config.input.assign(bufferBytes, 0);
  // A lock per lane increment: exactly one lane sees each old value.
  KernelResult result =
      runKernel("atom.global.cas.b32 %r0, [%in], 0, 7; setp.eq.u32 %p0, %r0, 0;"
                "vote.sync.ballot.b32 %r1, %p0, -1; setp.eq.u32 %p1, %t, 0;"
                "atom.global.exch.b32 %r2, [%in+4], %t;"
                "@%p1 st.global.v2.u32 [%out], {%r1, %r2};",
                config);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  EXPECT_EQ(result.at<uint32_t>(0), 1u);
}

} // namespace
