//===- MatrixTest.cpp - ldmatrix, mma, wgmma and their layouts ------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <gtest/gtest.h>
#include <ostream>

using namespace attn::test;

namespace {

uint16_t halfBits(float value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

uint16_t bf16Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

/// Small integers, exact in both types.
float valueA(unsigned m, unsigned k) {
  return static_cast<float>((m * 5 + k * 3) % 11) - 5;
}
float valueB(unsigned n, unsigned k) {
  return static_cast<float>((n * 7 + k * 2) % 9) - 4;
}
float product(unsigned m, unsigned n, unsigned depth) {
  float sum = 0;
  for (unsigned k = 0; k < depth; ++k)
    sum += valueA(m, k) * valueB(n, k);
  return sum;
}

void put(std::vector<uint8_t> &bytes, size_t offset, uint16_t bits) {
  if (bytes.size() < offset + 2)
    bytes.resize(offset + 2);
  bytes[offset] = static_cast<uint8_t>(bits);
  bytes[offset + 1] = static_cast<uint8_t>(bits >> 8);
}

/// Copies the first `bytes` of %in to shared memory; 1-D, by thread 0.
std::string copyIn(size_t bytes) {
  return "setp.eq.u32 %p8, %t, 0; add.u32 %r191, %smem, 57344;"
         "@!%p8 bra READY; mbarrier.init.shared::cta.b64 [%r191], 1;"
         "fence.mbarrier_init.release.cluster;"
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r191], " +
         std::to_string(bytes) +
         "; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
         "[%smem], [%in], " +
         std::to_string(bytes) +
         ", [%r191]; READY: bar.sync 0;"
         "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r191], 0;"
         "@!%p1 bra WAIT;";
}

// Fragments of one warp.

TEST(Ldmatrix, RowsAndTransposes) {
  for (bool transpose : {false, true}) {
    KernelResult result = runKernel(
        copyIn(512) +
        "shl.b32 %r0, %t, 4; add.u32 %r0, %r0, %smem;"
        "ldmatrix.sync.aligned.m8n8.x4" +
        (transpose ? ".trans" : "") +
        ".shared.b16 {%r1, %r2, %r3, %r4}, [%r0]; mul.wide.u32 %d0, %t, 16;"
        "add.s64 %d0, %out, %d0; st.global.v4.u32 [%d0], {%r1, %r2, %r3, "
        "%r4};");
    ASSERT_TRUE(result.status.isOk()) << result.status.message();
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < 4; ++i)
        for (unsigned e = 0; e < 2; ++e) {
          unsigned row = lane / 4, column = lane % 4 * 2 + e;
          if (transpose)
            std::swap(row, column);
          // Row r of matrix i is the 16 bytes 8i + r of the input.
          unsigned element = (8 * i + row) * 8 + column;
          EXPECT_EQ(result.at<uint16_t>((lane * 4 + i) * 2 + e),
                    inputElement(element / 64, element % 64));
        }
  }
}

TEST(Stmatrix, IsTheInverseOfLdmatrix) {
  KernelResult result = runKernel(
      copyIn(512) +
      "shl.b32 %r0, %t, 4; add.u32 %r0, %r0, %smem; add.u32 %r9, %r0, 1024;"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];"
      "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r9], {%r1, %r2};"
      "add.u32 %r9, %r9, 256;"
      "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r9], {%r3, %r4};"
      "bar.warp.sync -1; add.u32 %r9, %r9, -256;"
      "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r9]; mul.wide.u32 %d0, %t, 16;"
      "add.s64 %d0, %out, %d0;"
      "st.global.v4.u32 [%d0], {%r1, %r2, %r3, %r4};");
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned row = 0; row < 32; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      unsigned r = row, c = column;
      if (row < 16) {
        r = row / 8 * 8 + column;
        c = row % 8;
      }
      unsigned element = r * 8 + c;
      EXPECT_EQ(result.at<uint16_t>(row * 8 + column),
                inputElement(element / 64, element % 64));
    }
}

TEST(Mma, M16N8K16) {
  for (bool bf16 : {false, true}) {
    KernelConfig config;
    auto bits = [&](float value) {
      return bf16 ? bf16Bits(value) : halfBits(value);
    };
    // Each lane's registers side by side: 4 of A, 2 of B.
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned e = 0; e < 2; ++e) {
        for (unsigned r = 0; r < 4; ++r)
          put(config.input, lane * 32 + r * 4 + e * 2,
              bits(valueA(lane / 4 + 8 * (r % 2),
                          lane % 4 * 2 + e + 8 * (r / 2))));
        for (unsigned r = 0; r < 2; ++r)
          put(config.input, lane * 32 + 16 + r * 4 + e * 2,
              bits(valueB(lane / 4, lane % 4 * 2 + e + 8 * r)));
      }
    std::string type = bf16 ? "bf16" : "f16";
    KernelResult result = runKernel(
        "mul.wide.u32 %d0, %t, 32; add.s64 %d0, %in, %d0;"
        "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0];"
        "ld.global.v2.u32 {%r4, %r5}, [%d0+16]; mov.b32 %f0, 0f3F800000;"
        "mma.sync.aligned.m16n8k16.row.col.f32." +
            type + "." + type +
            ".f32 {%f1, %f2, %f3, %f4}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, "
            "{%f0, %f0, %f0, %f0}; mul.wide.u32 %d1, %t, 16;"
            "add.s64 %d1, %out, %d1; st.global.v4.b32 [%d1], {%f1, %f2, %f3, "
            "%f4};",
        config);
    ASSERT_TRUE(result.status.isOk()) << result.status.message();
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < 4; ++i)
        EXPECT_EQ(
            result.at<float>(lane * 4 + i),
            1 + product(lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2, 16));
  }
}

// wgmma: operands laid out by hand, one descriptor each.

struct WgmmaCase {
  unsigned n;
  /// 0, 32, 64 or 128 bytes.
  unsigned swizzle;
  bool transposeA, transposeB, aInRegisters, bf16;
};

void PrintTo(const WgmmaCase &c, std::ostream *stream) {
  *stream << "n" << c.n << " swizzle " << c.swizzle << " A "
          << (c.aInRegisters ? "registers"
              : c.transposeA ? "MN"
                             : "K")
          << " B " << (c.transposeB ? "MN" : "K")
          << (c.bf16 ? " bf16" : " f16");
}

/// Byte offsets within an operand, by the tables of PTX ISA, "Strides" and
/// "Canonical layouts" of wgmma.
struct OperandLayout {
  unsigned width, extent;
  bool transposed;

  unsigned strideBytes() const { return width ? 8 * width : 256; }
  unsigned leadingBytes() const {
    if (!width)
      return transposed ? extent / 8 * 256 : 128;
    return transposed ? 16 * width : 16;
  }
  unsigned bytes() const {
    if (!width)
      return transposed ? 2 * leadingBytes() : extent / 8 * 256;
    return transposed ? (extent + width / 2 - 1) / (width / 2) * leadingBytes()
                      : extent * width;
  }
  unsigned offset(unsigned mn, unsigned k) const {
    unsigned linear;
    if (!width && transposed)
      linear = mn / 8 * strideBytes() + k / 8 * leadingBytes() + k % 8 * 16 +
               mn % 8 * 2;
    else if (!width)
      linear = mn / 8 * strideBytes() + k / 8 * leadingBytes() + mn % 8 * 16 +
               k % 8 * 2;
    else if (transposed)
      linear = mn / (width / 2) * leadingBytes() + k / 8 * strideBytes() +
               k % 8 * width + mn % (width / 2) * 2;
    else
      linear = mn / 8 * strideBytes() + mn % 8 * width + k * 2;
    unsigned rows = width ? width / 16 - 1 : 0;
    return linear ^ (linear >> 7 & rows) << 4;
  }
  uint64_t descriptorBits() const {
    uint64_t mode = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
    return mode << 62 | uint64_t(strideBytes() >> 4) << 32 |
           uint64_t(leadingBytes() >> 4) << 16;
  }
};

class Wgmma : public testing::TestWithParam<WgmmaCase> {};

std::string makeDescriptor(const std::string &name, unsigned offset,
                           uint64_t bits) {
  return "add.u32 %r100, %smem, " + std::to_string(offset) +
         "; shr.u32 %r100, %r100, 4; cvt.u64.u32 " + name + ", %r100; or.b64 " +
         name + ", " + name + ", " + std::to_string(bits) + ";";
}

TEST_P(Wgmma, MatchesPlainCode) {
  const WgmmaCase &c = GetParam();
  OperandLayout a{c.swizzle, 64, c.transposeA};
  OperandLayout b{c.swizzle, c.n, c.transposeB};
  unsigned bStart = (a.bytes() + 1023) / 1024 * 1024;
  KernelConfig config;
  config.threads = 128;
  config.outputBytes = 64 * c.n * 4;
  auto bits = [&](float value) {
    return c.bf16 ? bf16Bits(value) : halfBits(value);
  };
  config.input.resize(bStart + b.bytes());
  for (unsigned k = 0; k < 16; ++k) {
    for (unsigned m = 0; m < 64; ++m)
      put(config.input, a.offset(m, k), bits(valueA(m, k)));
    for (unsigned n = 0; n < c.n; ++n)
      put(config.input, bStart + b.offset(n, k), bits(valueB(n, k)));
  }
  std::string type = c.bf16 ? "bf16" : "f16";
  std::string aOperand = "%d40";
  std::string body = copyIn(config.input.size()) +
                     makeDescriptor("%d40", 0, a.descriptorBits()) +
                     makeDescriptor("%d41", bStart, b.descriptorBits());
  if (c.aInRegisters) {
    // The fragment comes from A's plain bytes, which are K-major here.
    body += "and.b32 %r50, %lane, 3; shr.u32 %r51, %lane, 2;"
            "shl.b32 %r52, %warp, 4; add.u32 %r51, %r51, %r52;";
    for (unsigned r = 0; r < 4; ++r) {
      // Swizzle of 128: row * 128 + ((chunk ^ row % 8) * 16) + byte.
      std::string row = "%r" + std::to_string(60 + r);
      body += "add.u32 %r53, %r51, " + std::to_string(r % 2 * 8) +
              "; and.b32 %r54, %r53, 7; xor.b32 %r54, %r54, " +
              std::to_string(r / 2) +
              "; shl.b32 %r54, %r54, 4; shl.b32 %r53, %r53, 7;"
              "add.u32 %r53, %r53, %r54; shl.b32 %r55, %r50, 2;"
              "add.u32 %r53, %r53, %r55; add.u32 %r53, %r53, %smem;"
              "ld.shared.u32 " +
              row + ", [%r53];";
    }
    aOperand = "{%r60, %r61, %r62, %r63}";
  }
  body += "wgmma.fence.sync.aligned;"
          "wgmma.mma_async.sync.aligned.m64n" +
          std::to_string(c.n) + "k16.f32." + type + "." + type + " " +
          registerList("%f", 0, c.n / 2) + ", " + aOperand +
          ", %d41, 0, 1, 1, " +
          (c.aInRegisters ? std::string()
           : c.transposeA ? "1, "
                          : "0, ") +
          (c.transposeB ? "1" : "0") +
          "; wgmma.commit_group.sync.aligned;"
          "wgmma.wait_group.sync.aligned 0;"
          "mul.wide.u32 %d1, %t, " +
          std::to_string(c.n / 2 * 4) + "; add.s64 %d1, %out, %d1;";
  for (unsigned i = 0; i < c.n / 2; ++i)
    body += "st.global.b32 [%d1+" + std::to_string(4 * i) + "], %f" +
            std::to_string(i) + ";";
  KernelResult result = runKernel(body, config);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < c.n / 2; ++i) {
      unsigned row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2);
      unsigned column = i / 4 * 8 + t % 4 * 2 + i % 2;
      ASSERT_EQ(result.at<float>(t * (c.n / 2) + i), product(row, column, 16))
          << "row " << row << " column " << column;
    }
}

std::vector<WgmmaCase> wgmmaCases() {
  std::vector<WgmmaCase> cases;
  for (unsigned swizzle : {0, 32, 64, 128})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (unsigned n : {8, 64, 128})
          // A transposed operand is a whole number of panels.
          if (!transposeB || !swizzle || n >= swizzle / 2)
            cases.push_back(
                {n, swizzle, transposeA, transposeB, false, n == 64});
  for (bool transposeB : {false, true})
    for (unsigned n : {80, 176, 256})
      if (!transposeB || n % 64 == 0)
        cases.push_back({n, 128, false, transposeB, true, n == 80});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Wgmma, testing::ValuesIn(wgmmaCases()));

} // namespace
