//===- QuickTest.cpp - Execution without checks ---------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// runKernel() compares the bits with and without checks. Here are the
// instructions that have code of their own without checks, with operands that
// are hard to get right, and what has to be caught even then.
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <gtest/gtest.h>
#include <random>

using namespace attn::test;

namespace {

/// Of each instruction 32-bit operands $x, $y, $z, 64-bit ones $X, $Y, and
/// predicates $p, $q; results $d, $D, $r (a predicate).
const char *const instructions[] = {
    "mov.b32 $d, $x;",
    "mov.b32 $d, 0f3F800000;",
    "mov.b64 $D, $X;",
    "add.s32 $d, $x, $y;",
    "add.s32 $d, $x, -7;",
    "sub.s32 $d, $x, $y;",
    "mul.lo.s32 $d, $x, $y;",
    "mad.lo.s32 $d, $x, $y, $z;",
    "and.b32 $d, $x, $y;",
    "or.b32 $d, $x, $y;",
    "xor.b32 $d, $x, $y;",
    "and.b32 $y, $y, 63; shl.b32 $d, $x, $y;",
    "and.b32 $y, $y, 63; shr.u32 $d, $x, $y;",
    "and.b32 $y, $y, 63; shr.s32 $d, $x, $y;",
    "shl.b32 $d, $x, $y;",
    "shr.s32 $d, $x, $y;",
    "min.s32 $d, $x, $y;",
    "max.s32 $d, $x, $y;",
    "min.u32 $d, $x, $y;",
    "max.u32 $d, $x, $y;",
    "add.s64 $D, $X, $Y;",
    "sub.s64 $D, $X, $Y;",
    "mul.lo.s64 $D, $X, $Y;",
    "and.b64 $D, $X, $Y;",
    "or.b64 $D, $X, $Y;",
    "cvt.u64.u32 $D, $x;",
    "add.rn.f32 $d, $x, $y;",
    "sub.rn.f32 $d, $x, $y;",
    "mul.rn.f32 $d, $x, $y;",
    "fma.rn.f32 $d, $x, $y, $z;",
    "max.f32 $d, $x, $y;",
    "min.f32 $d, $x, $y;",
    "neg.f32 $d, $x;",
    "ex2.approx.f32 $d, $x;",
    "ex2.approx.ftz.f32 $d, $x;",
    "cvt.rn.bf16x2.f32 $d, $x, $y;",
    "cvt.rn.f16x2.f32 $d, $x, $y;",
    "cvt.u16.u32 %h0, $x; cvt.f32.bf16 $d, %h0;",
    "setp.lt.s32 $r, $x, $y;",
    "setp.le.s32 $r, $x, $y;",
    "setp.gt.s32 $r, $x, $y;",
    "setp.ge.s32 $r, $x, $y;",
    "setp.lt.u32 $r, $x, $y;",
    "setp.le.u32 $r, $x, $y;",
    "setp.gt.u32 $r, $x, $y;",
    "setp.ge.u32 $r, $x, $y;",
    "setp.eq.b32 $r, $x, $y;",
    "setp.ne.b32 $r, $x, $y;",
    "setp.eq.s32 $r, $x, $x;",
    "setp.lt.f32 $r, $x, $y;",
    "setp.le.f32 $r, $x, $y;",
    "setp.gt.f32 $r, $x, $y;",
    "setp.ge.f32 $r, $x, $y;",
    "setp.eq.f32 $r, $x, $y;",
    "selp.b32 $d, $x, $y, $p;",
    "selp.f32 $d, 0f00000000, $y, $q;",
    "and.pred $r, $p, $q;",
    "or.pred $r, $p, $q;",
    "not.pred $r, $p;",
};

/// Numbers of every size, and those at which something changes.
std::vector<uint8_t> operands() {
  static const uint32_t edges[] = {
      0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
      0x7fc00000, 0xffc12345, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
      0x7f7fffff, 0x477fefff, 0x477ff000, 0x387fffff, 0x38800000, 0x33000000,
      0x33000001, 0x3f808000, 0x3f818000, 0x42fe0000, 0x43000000, 0xc2fc0000,
      0xc3150000, 0xc3160000, 0xffffffff, 0x7fffffff, 0x0000001f, 0x00000020,
      0x3effffff, 0x3f000000};
  std::mt19937 random(7);
  std::vector<uint8_t> bytes(bufferBytes);
  for (size_t word = 0; word < bufferBytes / 4; ++word) {
    uint32_t value = random();
    if (random() % 2)
      value = edges[random() % std::size(edges)];
    else if (random() % 3 == 0)
      value = (value & 0x83ffffff) | 0x3c000000; // of moderate size
    std::memcpy(bytes.data() + 4 * word, &value, 4);
  }
  return bytes;
}

/// 16 rounds of 32 lanes: reads operands, executes, writes all results.
std::string kernelOf(std::string instruction, const char *guard) {
  const std::pair<const char *, const char *> names[] = {
      {"$x", "%r20"}, {"$y", "%r21"}, {"$z", "%r22"}, {"$d", "%r23"},
      {"$X", "%d20"}, {"$Y", "%d21"}, {"$D", "%d23"}, {"$p", "%p10"},
      {"$q", "%p11"}, {"$r", "%p12"}};
  for (const auto &[name, reg] : names)
    instruction = substitute(instruction, name, reg);
  std::string guarded;
  for (size_t at = 0; at < instruction.size();) {
    size_t end = instruction.find(';', at) + 1;
    guarded += guard + instruction.substr(at, end - at);
    at = end;
  }
  return "mov.u32 %r0, 0; and.b32 %r1, %lane, 1; setp.eq.u32 %p1, %r1, 0;"
         "mul.wide.u32 %d0, %t, 16; add.s64 %d1, %in, %d0;"
         "add.s64 %d2, %out, %d0;"
         "LOOP: ld.global.v4.b32 {%r20, %r21, %r22, %r24}, [%d1];"
         "mov.u32 %r23, 7; mov.u64 %d23, 9; mov.b64 %d20, {%r20, %r21};"
         "mov.b64 %d21, {%r22, %r24}; setp.lt.u32 %p10, %r20, %r21;"
         "setp.lt.u32 %p11, %r22, %r24; setp.ne.u32 %p12, %r0, %r0;" +
         guarded +
         "selp.b32 %r25, 1, 0, %p12;"
         "xor.b32 %r25, %r25, %r23; mov.b64 {%r26, %r27}, %d23;"
         "st.global.v2.b32 [%d2], {%r25, %r26}; st.global.b32 [%d2+8], %r27;"
         "add.s64 %d1, %d1, 512; add.s64 %d2, %d2, 512; add.u32 %r0, %r0, 1;"
         "setp.lt.u32 %p0, %r0, 16; @%p0 bra LOOP;";
}

class QuickInstruction : public testing::TestWithParam<const char *> {};

TEST_P(QuickInstruction, GivesTheSameBits) {
  KernelConfig config;
  config.input = operands();
  for (const char *guard : {"", "@%p1 ", "@!%p1 "}) {
    KernelResult result = runKernel(kernelOf(GetParam(), guard), config);
    EXPECT_TRUE(result.status.isOk()) << guard << result.status.message();
  }
  // The odd lanes part from the even ones.
  std::string parted =
      std::string("@%p1 bra EVEN;") + GetParam() + "EVEN: mov.u32 %r28, 0;";
  KernelResult result = runKernel(kernelOf(parted, ""), config);
  EXPECT_TRUE(result.status.isOk()) << result.status.message();
}

INSTANTIATE_TEST_SUITE_P(All, QuickInstruction,
                         testing::ValuesIn(instructions));

KernelConfig unchecked() {
  KernelConfig config;
  config.checks = config.counts = false;
  return config;
}

TEST(Quick, RegistersThatWereNeverWrittenAreZero) {
  // %r5 is written by the odd lanes only, %r6 by none; %r7 needs their places.
  KernelResult result = runKernel(
      "mov.u32 %r7, 99; add.u32 %r7, %r7, %t; and.b32 %r0, %t, 1;"
      "setp.eq.u32 %p0, %r0, 1; @%p0 mov.u32 %r5, 3; mul.wide.u32 %d0, %t, 16;"
      "add.s64 %d0, %out, %d0; st.global.v2.b32 [%d0], {%r5, %r6};"
      "st.global.b32 [%d0+8], %r7;",
      unchecked());
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(result.at<uint32_t>(4 * lane), lane % 2 ? 3u : 0u);
    EXPECT_EQ(result.at<uint32_t>(4 * lane + 1), 0u);
    EXPECT_EQ(result.at<uint32_t>(4 * lane + 2), 99 + lane);
  }
}

TEST(Quick, ValuesOfAnOuterLoopOutliveTheInnerOne) {
  // Sums i * j; %r3 lives through the inner loop but is not used there.
  KernelResult result = runKernel(
      "mov.u32 %r0, 0; mov.u32 %r1, 0;"
      "OUTER: add.u32 %r3, %r0, 5; mov.u32 %r2, 0;"
      "INNER: mul.lo.u32 %r4, %r0, %r2; add.u32 %r1, %r1, %r4;"
      "add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %lane; @%p0 bra INNER;"
      "add.u32 %r1, %r1, %r3; add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 6;"
      "@%p0 bra OUTER; mul.wide.u32 %d0, %t, 4; add.s64 %d0, %out, %d0;"
      "st.global.b32 [%d0], %r1;",
      unchecked());
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 6; ++i) {
      for (unsigned j = 0; j < std::max(1u, lane); ++j)
        sum += i * j;
      sum += i + 5;
    }
    EXPECT_EQ(result.at<uint32_t>(lane), sum) << lane;
  }
}

TEST(Quick, CountsNothing) {
  KernelResult result = runKernel(
      "ld.global.u32 %r0, [%in]; st.shared.u32 [%smem], %r0;", unchecked());
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  EXPECT_EQ(result.statistics.global.readBytes, 0u);
  EXPECT_EQ(result.statistics.banks.wavefronts, 0u);
}

/// What would harm the host or hang it.
struct UncheckedFault {
  const char *name, *message, *body;
};

void PrintTo(const UncheckedFault &c, std::ostream *stream) {
  *stream << c.name;
}

class QuickFault : public testing::TestWithParam<UncheckedFault> {};

TEST_P(QuickFault, IsCaughtWithoutChecks) {
  KernelConfig config = unchecked();
  config.threads = 128;
  KernelResult result = runKernel(GetParam().body, config);
  EXPECT_EQ(result.status.code(), StatusCode::LaunchFailed);
  EXPECT_NE(result.status.message().find(GetParam().message), std::string::npos)
      << result.status.message();
}

const UncheckedFault faults[] = {
    {"Load", "out-of-bounds read", "ld.global.u32 %r0, [%in+8192];"},
    {"Store", "out-of-bounds write",
     "mul.wide.u32 %d0, %t, 128; add.s64 %d0, %out, %d0;"
     "st.global.u32 [%d0], %t;"},
    {"SharedLoad", "out-of-bounds read", "ld.shared.u32 %r0, [%smem+65536];"},
    {"SharedNull", "out-of-bounds write",
     "mov.u32 %r0, 16; st.shared.u32 [%r0], %t;"},
    {"Misaligned", "misaligned read", "ld.global.u32 %r0, [%in+2];"},
    {"Parameter", "out-of-bounds read", "ld.param.u64 %d0, [out+8];"},
    {"CpAsync", "out-of-bounds cp.async",
     "cp.async.cg.shared.global [%smem+65536], [%in], 16;"},
    {"Ldmatrix", "out-of-bounds matrix row",
     "add.u32 %r0, %smem, 65536;"
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];"},
    {"Wgmma", "read by wgmma",
     "mov.u64 %d0, 0x3fff; wgmma.fence.sync.aligned;"
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
     "{%f0, %f1, %f2, %f3}, %d0, %d0, 0, 1, 1, 0, 0;"},
    {"Deadlock", "deadlock", "setp.ge.u32 %p0, %t, 64; @%p0 ret; bar.sync 0;"},
    {"Spin", "deadlock",
     "mbarrier.init.shared.b64 [%smem], 200; W: "
     "mbarrier.test_wait.parity.shared.b64 %p0, [%smem], 0; @!%p0 bra W;"},
    {"Endless", "gave up", "LOOP: add.u32 %r0, %r0, 1; bra LOOP;"},
};

INSTANTIATE_TEST_SUITE_P(
    All, QuickFault, testing::ValuesIn(faults),
    [](const testing::TestParamInfo<UncheckedFault> &info) {
      return std::string(info.param.name);
    });

} // namespace
