//===- Sm80Test.cpp - Kernels of the FA2 kind -----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async into two stages, ldmatrix, mma.sync: the input times its transpose,
// with the last rows of the second operand filled with zeros.
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <gtest/gtest.h>
#include <set>

using namespace attn::test;
using attn::runtime::emulator::InstClass;

namespace {

constexpr unsigned validRows = 56;

/// Chunk %r1 of row %r0, 16 bytes each, of a tile at $base: into %r2. Rows have
/// 128 bytes, chunks are permuted by the row.
std::string place(const std::string &base) {
  return "and.b32 %r3, %r0, 7; xor.b32 %r3, %r3, %r1; shl.b32 %r3, %r3, 4;"
         "shl.b32 %r2, %r0, 7; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, " +
         base + ";";
}

/// Rows 16 `tile` and on of the second operand, one chunk a thread.
std::string copyB(unsigned tile) {
  return "shr.u32 %r0, %t, 3; and.b32 %r1, %t, 7;" + place("%smem") +
         "add.u32 %r2, %r2, " + std::to_string(8192 + tile % 2 * 2048) +
         "; add.u32 %r4, %r0, " + std::to_string(16 * tile) +
         "; setp.lt.u32 %p0, %r4, " + std::to_string(validRows) +
         "; selp.b32 %r5, 16, 0, %p0; mul.wide.u32 %d0, %t, 16;"
         "add.s64 %d0, %in, %d0; add.s64 %d0, %d0, " +
         std::to_string(2048 * tile) +
         "; cp.async.cg.shared.global [%r2], [%d0], 16, %r5;"
         "cp.async.commit_group;\n";
}

std::string copyA() {
  std::string text;
  for (unsigned i = 0; i < 4; ++i)
    text += "add.u32 %r6, %t, " + std::to_string(128 * i) +
            "; shr.u32 %r0, %r6, 3; and.b32 %r1, %r6, 7;" + place("%smem") +
            "mul.wide.u32 %d0, %r6, 16; add.s64 %d0, %in, %d0;"
            "cp.async.cg.shared.global [%r2], [%d0], 16;\n";
  return text;
}

/// A warp's 16 rows times 16 rows of B: two accumulators of 16 x 8 each.
std::string multiply(unsigned tile) {
  std::string text;
  for (unsigned i = 0; i < 8; ++i)
    text += "mov.b32 %f" + std::to_string(i) + ", 0f00000000;";
  for (unsigned k = 0; k < 4; ++k) {
    std::string chunk = std::to_string(2 * k);
    text += "and.b32 %r0, %lane, 15; shl.b32 %r1, %warp, 4;"
            "add.u32 %r0, %r0, %r1; shr.u32 %r1, %lane, 4;"
            "add.u32 %r1, %r1, " +
            chunk + ";" + place("%smem") +
            "\nldmatrix.sync.aligned.m8n8.x4.shared.b16 "
            "{%r10, %r11, %r12, %r13}, [%r2];"
            "shr.u32 %r0, %lane, 4; shl.b32 %r0, %r0, 3;"
            "and.b32 %r1, %lane, 7; add.u32 %r0, %r0, %r1;"
            "shr.u32 %r1, %lane, 3; and.b32 %r1, %r1, 1; add.u32 %r1, %r1, " +
            chunk + ";" + place("%smem") +
            "\nldmatrix.sync.aligned.m8n8.x4.shared.b16 "
            "{%r14, %r15, %r16, %r17}, [%r2+" +
            std::to_string(8192 + tile % 2 * 2048) + "];\n";
    for (unsigned n = 0; n < 2; ++n) {
      std::string c = registerList("%f", 4 * n, 4);
      text += "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + c +
              ", {%r10, %r11, %r12, %r13}, " +
              registerList("%r", 14 + 2 * n, 2) + ", " + c + ";\n";
    }
  }
  return text;
}

std::string storeC(unsigned tile) {
  std::string text = "shr.u32 %r0, %lane, 2; shl.b32 %r1, %warp, 4;"
                     "add.u32 %r0, %r0, %r1; shl.b32 %r0, %r0, 8;"
                     "and.b32 %r1, %lane, 3; shl.b32 %r1, %r1, 3;"
                     "add.u32 %r0, %r0, %r1; cvt.u64.u32 %d0, %r0;"
                     "add.s64 %d0, %out, %d0;";
  for (unsigned n = 0; n < 2; ++n)
    for (unsigned half = 0; half < 2; ++half)
      text += "st.global.v2.b32 [%d0+" +
              std::to_string(64 * tile + 32 * n + 2048 * half) + "], " +
              registerList("%f", 4 * n + 2 * half, 2) + ";\n";
  return text;
}

std::string pipeline() {
  std::string text = copyA() + copyB(0);
  for (unsigned tile = 0; tile < 4; ++tile) {
    if (tile < 3)
      text += copyB(tile + 1);
    text += "cp.async.wait_group " + std::string(tile < 3 ? "1" : "0") +
            "; bar.sync 0;\n" + multiply(tile) + storeC(tile) + "bar.sync 0;\n";
  }
  return text;
}

TEST(Sm80, TwoStagesOfCopiesFeedMma) {
  for (bool checks : {true, false})
    for (uint64_t seed : {0, 1, 2}) {
      KernelConfig config;
      config.threads = 128;
      config.target = "sm_80";
      config.outputBytes = 64 * 64 * 4;
      config.seed = seed;
      config.checks = checks;
      KernelResult result = runKernel(pipeline(), config);
      ASSERT_TRUE(result.status.isOk()) << result.status.message();
      for (unsigned m = 0; m < 64; ++m)
        for (unsigned n = 0; n < 64; ++n) {
          float sum = 0;
          for (unsigned k = 0; k < 64 && n < validRows; ++k)
            sum += inputValue(m, k) * inputValue(n, k);
          ASSERT_EQ(result.at<float>(m * 64 + n), sum) << m << " " << n;
        }
    }
}

TEST(Sm80, StatisticsOfATiledProduct) {
  KernelConfig config;
  config.threads = 128;
  config.target = "sm_80";
  config.outputBytes = 64 * 64 * 4;
  KernelResult result = runKernel(pipeline(), config);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  const emulator::Statistics &s = result.statistics;
  // A once, and the rows of B that are there; all in whole sectors.
  uint64_t read = (64 + validRows) * 128;
  EXPECT_EQ(s.global.readBytes, read);
  EXPECT_EQ(s.global.readSectorBytes, read);
  ASSERT_EQ(s.allocations.size(), 2u);
  EXPECT_EQ(s.allocations.begin()->second.readBytes, read);
  EXPECT_EQ(s.allocations.begin()->second.readSectorBytes, read);
  EXPECT_EQ(s.allocations.rbegin()->second.writtenBytes, 64 * 64 * 4u);
  EXPECT_EQ(s.matrixMultiplyAdds, 64 * 64 * 64u);
  EXPECT_EQ(s.banks.conflicts, 0u);
  EXPECT_EQ(s.banksByClass[size_t(InstClass::MatrixLoad)].wavefronts,
            4 * 4 * 4 * 2 * 4u);
  EXPECT_EQ(s.banksByClass[size_t(InstClass::AsyncCopy)].wavefronts,
            8 * 4 * 4u);
  EXPECT_EQ(s.banksByLine.at("k").size(), 8 + 4 * 4 * 2u);
}

/// The text without the `index`th occurrence of an instruction; empty if there
/// are fewer.
std::string without(const std::string &text, const std::string &instruction,
                    size_t index) {
  size_t at = text.find(instruction);
  while (at != std::string::npos && index--)
    at = text.find(instruction, at + 1);
  if (at == std::string::npos)
    return {};
  std::string result = text;
  return result.erase(at, text.find(';', at) + 1 - at);
}

TEST(Sm80, EveryPieceOfSynchronisationIsMissed) {
  KernelConfig config;
  config.threads = 128;
  config.target = "sm_80";
  config.outputBytes = 64 * 64 * 4;
  struct {
    const char *instruction;
    size_t count;
    /// Nothing is copied after these.
    std::set<size_t> spare;
  } pieces[] = {{"cp.async.commit_group", 4, {}},
                {"cp.async.wait_group", 4, {}},
                {"bar.sync 0", 8, {5, 7}}};
  for (const auto &piece : pieces)
    for (size_t i = 0; i < piece.count; ++i) {
      std::string text = without(pipeline(), piece.instruction, i);
      ASSERT_FALSE(text.empty()) << piece.instruction << " " << i;
      bool isCaught = false;
      for (uint64_t seed : {0, 1, 2}) {
        config.seed = seed;
        isCaught |= !runKernel(text, config).status.isOk();
      }
      EXPECT_EQ(isCaught, !piece.spare.count(i))
          << piece.instruction << " " << i;
    }
}

/// What LLVM's back end prints for sm_80: addresses of shared memory in 64-bit
/// registers, untyped loads, packed arithmetic.
TEST(Sm80, DecodesWhatLlvmPrints) {
  KernelConfig config;
  config.target = "sm_80";
  std::unique_ptr<EmulatorDevice> device = createEmulator();
  Expected<std::unique_ptr<Module>> module = device->load(kernelText(
      R"(
	mov.b64 	%d0, dynamic;
	cp.async.cg.shared.global [%d0], [%d9], 16, %r5;
	cp.async.cg.shared.global [%d0+4096], [%d9], 16;
	cp.async.ca.shared.global [%d0+4096], [%d9], 8;
	cp.async.commit_group;
	cp.async.wait_group 	1;
	cp.async.wait_all;
	cp.async.mbarrier.arrive.shared.b64 [%d0];
	cp.async.mbarrier.arrive.noinc.shared.b64 [%d0];
	barrier.sync 	0;
	bar.sync 	0;
	bar.sync 	1, 128;
	bar.warp.sync 	-1;
	ld.global.v4.b32 	{%r6, %r7, %r8, %r9}, [%d9];
	ld.global.nc.v4.b32 	{%r6, %r7, %r8, %r9}, [%d9];
	ld.global.v2.b64 	{%d1, %d2}, [%d9];
	cvt.rn.bf16.f32 	%h1, %r4;
	mov.b32 	%r10, {%h1, %h1};
	mov.b32 	%r11, -2147450880;
	fma.rn.bf16x2 	%r12, %r9, %r10, %r11;
	st.shared.v4.b32 	[%d5+8192], {%r15, %r14, %r13, %r12};
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r16, %r17, %r18, %r19}, [%d5];
	ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r16, %r17, %r18, %r19}, [%d5];
	ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r20, %r21}, [%d5+4096];
	ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%d5+4096];
	mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
		{%r23, %r24, %r25, %r26},
		{%r16, %r17, %r18, %r19},
		{%r20, %r21},
		{%r22, %r22, %r22, %r22};
	mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
		{%r27, %r28, %r29, %r30},
		{%r16, %r16},
		{%r20},
		{%r23, %r24, %r25, %r26};
	shfl.sync.bfly.b32 	%r31, %r27, 1, 31, -1;
	redux.sync.max.u32 	%r31, %r27, -1;
	max.f32 	%r32, %r31, %r27;
	max.NaN.f32 	%r32, %r31, %r27;
	setp.eq.f32 	%p2, %r33, 0fFF800000;
	selp.f32 	%r34, 0f00000000, %r33, %p2;
	sub.rn.f32 	%r35, %r28, %r34;
	ex2.approx.ftz.f32 	%r36, %r35;
	ex2.approx.f32 	%r36, %r35;
	lg2.approx.ftz.f32 	%r37, %r36;
	rcp.approx.ftz.f32 	%r38, %r37;
	rcp.rn.f32 	%r38, %r37;
	div.rn.f32 	%r39, %r36, %r38;
	div.full.f32 	%r39, %r36, %r38;
	cvt.rn.bf16x2.f32 	%r40, %r39, %r36;
	cvt.rn.f16x2.f32 	%r41, %r39, %r36;
	cvt.rn.f16.f32 	%h2, %r36;
	cvt.f32.f16 	%r41, %h2;
	prmt.b32 	%r42, %r40, %r41, 0x5410U;
	lop3.b32 	%r42, %r40, %r41, %r42, 0xe8;
	shf.l.wrap.b32 	%r42, %r40, %r41, 5;
	bfe.u32 	%r42, %r40, 3, 5;
	bfi.b32 	%r42, %r40, %r41, 3, 5;
	{ .reg .b16 tmp; mov.b32 {%h2, tmp}, %r43; }
	mov.b32 	{%h2, _}, %r43;
	fma.rn.bf16 	%h3, %h2, %h2, %h1;
	fma.rn.f16 	%h3, %h2, %h2, %h1;
	mul.rn.f16x2 	%r51, %r47, %r47;
	add.rn.f16x2 	%r55, %r54, %r50;
	neg.bf16x2 	%r55, %r54;
	max.bf16x2 	%r55, %r54, %r50;
	st.global.v4.b32 	[%d10], {%r42, %r43, %r46, %r41};
	st.global.v2.b64 	[%d10], {%d1, %d2};
	st.global.b16 	[%d10], %h1;
)",
      config));
  EXPECT_TRUE(module) << module.status().message();
}

} // namespace
