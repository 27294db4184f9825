//===- ArithmeticTest.cpp - Scalar instructions against plain C++ ---------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

using namespace attn::test;

namespace {

float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
uint32_t asBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Three inputs of a lane: corner cases first, then a mixture.
struct Inputs {
  uint32_t a, b, c;
};

Inputs inputsOf(unsigned lane) {
  static constexpr uint32_t corners[] = {
      0,          1,          2,          31,         32,         33,
      0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x7f800000};
  constexpr unsigned count = sizeof corners / sizeof *corners;
  if (lane < count)
    return {corners[lane], corners[(lane * 5 + 3) % count],
            corners[(lane * 7 + 1) % count]};
  uint32_t x = lane * 0x9e3779b1u;
  return {x, x * 0x85ebca6bu ^ x >> 7, (lane * 0xc2b2ae35u) >> 3};
}

/// Lanes load a, b, c into %r0 to %r2 and store %r10.
std::string wrap(const std::string &body) {
  return "mul.wide.u32 %d0, %t, 12; add.s64 %d0, %in, %d0;"
         "ld.global.u32 %r0, [%d0]; ld.global.u32 %r1, [%d0+4];"
         "ld.global.u32 %r2, [%d0+8];" +
         body +
         "mul.wide.u32 %d1, %t, 4; add.s64 %d1, %out, %d1;"
         "st.global.u32 [%d1], %r10;";
}

KernelResult runLanes(const std::string &body,
                      const std::function<Inputs(unsigned)> &inputs) {
  KernelConfig config;
  for (unsigned lane = 0; lane < 32; ++lane) {
    Inputs in = inputs(lane);
    for (uint32_t word : {in.a, in.b, in.c})
      for (unsigned i = 0; i < 4; ++i)
        config.input.push_back(static_cast<uint8_t>(word >> (8 * i)));
  }
  return runKernel(wrap(body), config);
}

struct IntegerCase {
  const char *name;
  const char *body;
  uint32_t (*expected)(uint32_t a, uint32_t b, uint32_t c);
};

class IntegerInstruction : public testing::TestWithParam<IntegerCase> {};

int32_t s32(uint32_t value) { return static_cast<int32_t>(value); }

const IntegerCase integerCases[] = {
    {"Add", "add.s32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) { return a + b; }},
    {"SubImmediate", "sub.s32 %r10, %r0, -7;",
     [](uint32_t a, uint32_t, uint32_t) { return a + 7; }},
    {"MulLow", "mul.lo.s32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) { return a * b; }},
    {"MulHighSigned", "mul.hi.s32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) {
       return uint32_t(int64_t(s32(a)) * s32(b) >> 32);
     }},
    {"MulHighUnsigned", "mul.hi.u32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) {
       return uint32_t(uint64_t(a) * b >> 32);
     }},
    {"MulWideSigned",
     "mul.wide.s32 %d2, %r0, %r1; shr.u64 %d2, %d2, 16; cvt.u32.u64 %r10, %d2;",
     [](uint32_t a, uint32_t b, uint32_t) {
       return uint32_t(uint64_t(int64_t(s32(a)) * s32(b)) >> 16);
     }},
    {"MadLow", "mad.lo.s32 %r10, %r0, %r1, %r2;",
     [](uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }},
    {"MadWide",
     "cvt.u64.u32 %d3, %r2; mad.wide.u32 %d2, %r0, %r1, %d3;"
     "shr.u64 %d2, %d2, 32; cvt.u32.u64 %r10, %d2;",
     [](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t((uint64_t(a) * b + c) >> 32);
     }},
    {"DivSigned", "or.b32 %r1, %r1, 1; div.s32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) {
       b |= 1;
       return b == UINT32_MAX ? 0u - a : uint32_t(s32(a) / s32(b));
     }},
    {"RemUnsigned", "or.b32 %r1, %r1, 1; rem.u32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) { return a % (b | 1); }},
    {"MinSigned", "min.s32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) { return s32(a) < s32(b) ? a : b; }},
    {"MaxUnsigned", "max.u32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) { return a > b ? a : b; }},
    {"AbsNeg", "abs.s32 %r10, %r0; neg.s32 %r10, %r10;",
     [](uint32_t a, uint32_t, uint32_t) { return s32(a) < 0 ? a : 0u - a; }},
    {"Logic",
     "and.b32 %r10, %r0, %r1; xor.b32 %r10, %r10, %r2; not.b32 %r10, %r10;",
     [](uint32_t a, uint32_t b, uint32_t c) { return ~((a & b) ^ c); }},
    {"ShiftLeftClamps", "shl.b32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) { return b > 31 ? 0 : a << b; }},
    {"ShiftRightSigned", "shr.s32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) {
       return uint32_t(s32(a) >> (b > 31 ? 31 : b));
     }},
    {"ShiftRightUnsigned", "shr.u32 %r10, %r0, %r1;",
     [](uint32_t a, uint32_t b, uint32_t) { return b > 31 ? 0 : a >> b; }},
    {"FunnelLeftWrap", "shf.l.wrap.b32 %r10, %r0, %r1, %r2;",
     [](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t(((uint64_t(b) << 32 | a) << (c & 31)) >> 32);
     }},
    {"FunnelRightClamp", "shf.r.clamp.b32 %r10, %r0, %r1, %r2;",
     [](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t((uint64_t(b) << 32 | a) >> std::min(c, 32u));
     }},
    {"PopulationCount", "popc.b32 %r10, %r0;",
     [](uint32_t a, uint32_t, uint32_t) {
       return uint32_t(__builtin_popcount(a));
     }},
    {"LeadingZeros", "clz.b32 %r10, %r0;",
     [](uint32_t a, uint32_t, uint32_t) {
       return a ? uint32_t(__builtin_clz(a)) : 32u;
     }},
    {"Reverse", "brev.b32 %r10, %r0;",
     [](uint32_t a, uint32_t, uint32_t) {
       uint32_t r = 0;
       for (unsigned i = 0; i < 32; ++i)
         r |= (a >> i & 1) << (31 - i);
       return r;
     }},
    {"FieldExtractSigned", "bfe.s32 %r10, %r0, 5, 9;",
     [](uint32_t a, uint32_t, uint32_t) {
       return uint32_t(s32(a << 18) >> 23);
     }},
    {"FieldExtractUnsigned", "bfe.u32 %r10, %r0, 28, 9;",
     [](uint32_t a, uint32_t, uint32_t) { return a >> 28; }},
    {"FieldInsert", "bfi.b32 %r10, %r0, %r1, 8, 4;",
     [](uint32_t a, uint32_t b, uint32_t) {
       return (b & ~0xf00u) | (a & 15) << 8;
     }},
    {"PermuteBytes", "prmt.b32 %r10, %r0, %r1, 0x7610;",
     [](uint32_t a, uint32_t b, uint32_t) {
       return (a & 0xffff) | (b & 0xffff0000);
     }},
    {"PermuteSign", "prmt.b32 %r10, %r0, %r1, 0xba98;",
     [](uint32_t a, uint32_t, uint32_t) {
       uint32_t r = 0;
       for (unsigned i = 0; i < 4; ++i)
         r |= (a >> (8 * i + 7) & 1 ? 255u : 0u) << (8 * i);
       return r;
     }},
    {"ThreeInputLogic", "lop3.b32 %r10, %r0, %r1, %r2, 0xe8;",
     [](uint32_t a, uint32_t b, uint32_t c) {
       return (a & b) | (b & c) | (a & c);
     }},
    {"Select", "setp.lt.s32 %p0, %r0, %r1; selp.b32 %r10, %r0, %r2, %p0;",
     [](uint32_t a, uint32_t b, uint32_t c) {
       return s32(a) < s32(b) ? a : c;
     }},
    {"CompareAndCombine",
     "setp.eq.u32 %p1, %r2, 0; setp.hi.or.u32 %p0|%p2, %r0, %r1, %p1;"
     "selp.u32 %r10, 1, 0, %p0; selp.u32 %r11, 2, 0, %p2;"
     "add.u32 %r10, %r10, %r11;",
     [](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t((a > b || c == 0) + 2 * (a <= b || c == 0));
     }},
    {"PredicateLogic",
     "setp.lt.s32 %p0, %r0, %r1; setp.lt.s32 %p1, %r1, %r2;"
     "xor.pred %p2, %p0, %p1; not.pred %p2, %p2; selp.u32 %r10, 1, 0, %p2;",
     [](uint32_t a, uint32_t b, uint32_t c) {
       return uint32_t((s32(a) < s32(b)) == (s32(b) < s32(c)));
     }},
    {"PredicateImmediate",
     "mov.pred %p0, -1; mov.pred %p1, 0; and.pred %p2, %p0, %p1;"
     "selp.u32 %r10, 1, 0, %p2; @%p0 add.u32 %r10, %r10, 2;",
     [](uint32_t, uint32_t, uint32_t) { return 2u; }},
    {"PackAndUnpack",
     "mov.b64 %d2, {%r0, %r1}; mov.b64 {%r3, %r4}, %d2; mov.b32 {%h0, %h1}, "
     "%r3; mov.b32 %r10, {%h1, %h0}; xor.b32 %r10, %r10, %r4;",
     [](uint32_t a, uint32_t b, uint32_t) { return (a >> 16 | a << 16) ^ b; }},
    {"SignExtend", "cvt.s32.s8 %r10, %r0;",
     [](uint32_t a, uint32_t, uint32_t) {
       return uint32_t(int32_t(int8_t(a)));
     }},
    {"SignExtendInWideRegister",
     "cvt.u64.u32 %d2, %r0; cvt.s64.s8 %d2, %d2; cvt.u32.u64 %r10, %d2;",
     [](uint32_t a, uint32_t, uint32_t) {
       return uint32_t(int32_t(int8_t(a)));
     }},
    {"SaturateToByte", "cvt.sat.u8.s32 %r10, %r0;",
     [](uint32_t a, uint32_t, uint32_t) {
       return uint32_t(std::min(std::max(s32(a), 0), 255));
     }},
    {"IntegerToFloat", "cvt.rn.f32.s32 %r10, %r0;",
     [](uint32_t a, uint32_t, uint32_t) { return asBits(float(s32(a))); }},
    {"SumOfDifferences", "sad.s32 %r10, %r0, %r1, %r2;",
     [](uint32_t a, uint32_t b, uint32_t c) {
       return (s32(a) > s32(b) ? a - b : b - a) + c;
     }},
};

TEST_P(IntegerInstruction, MatchesPlainCode) {
  const IntegerCase &c = GetParam();
  KernelResult result = runLanes(c.body, inputsOf);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned lane = 0; lane < 32; ++lane) {
    Inputs in = inputsOf(lane);
    EXPECT_EQ(result.at<uint32_t>(lane), c.expected(in.a, in.b, in.c))
        << std::hex << in.a << " " << in.b << " " << in.c;
  }
}

INSTANTIATE_TEST_SUITE_P(All, IntegerInstruction,
                         testing::ValuesIn(integerCases),
                         [](const auto &info) { return info.param.name; });

// Floats.

struct FloatCase {
  const char *name;
  const char *body;
  double (*expected)(double a, double b, double c);
  /// Relative error allowed, beyond one rounding to float.
  double tolerance;
};

class FloatInstruction : public testing::TestWithParam<FloatCase> {};

Inputs floatInputs(unsigned lane) {
  float a = (float(lane) - 11.5f) * 0.37f, b = 5.25f - float(lane) * 0.41f,
        c = float(lane % 7) - 3.0f;
  return {asBits(a), asBits(b), asBits(c)};
}

const FloatCase floatCases[] = {
    {"Add", "add.rn.f32 %r10, %r0, %r1;",
     [](double a, double b, double) { return a + b; }, 0},
    {"Sub", "sub.f32 %r10, %r0, %r1;",
     [](double a, double b, double) { return a - b; }, 0},
    {"Mul", "mul.f32 %r10, %r0, %r1;",
     [](double a, double b, double) { return a * b; }, 0},
    {"Fma", "fma.rn.f32 %r10, %r0, %r1, %r2;",
     [](double a, double b, double c) { return a * b + c; }, 0},
    {"Divide", "div.rn.f32 %r10, %r0, %r1;",
     [](double a, double b, double) { return a / b; }, 0},
    {"Saturate", "add.sat.f32 %r10, %r0, %r1;",
     [](double a, double b, double) {
       return std::min(std::max(a + b, 0.0), 1.0);
     },
     0},
    {"Exp2", "ex2.approx.ftz.f32 %r10, %r0;",
     [](double a, double, double) { return std::exp2(a); }, 0x1p-22},
    {"Log2", "abs.f32 %r0, %r0; lg2.approx.f32 %r10, %r0;",
     [](double a, double, double) { return std::log2(std::fabs(a)); }, 0x1p-21},
    {"Reciprocal", "rcp.approx.ftz.f32 %r10, %r0;",
     [](double a, double, double) { return 1 / a; }, 0x1p-22},
    {"ReciprocalSquareRoot", "abs.f32 %r0, %r0; rsqrt.approx.f32 %r10, %r0;",
     [](double a, double, double) { return 1 / std::sqrt(std::fabs(a)); },
     0x1p-22},
    {"SquareRoot", "abs.f32 %r0, %r0; sqrt.rn.f32 %r10, %r0;",
     [](double a, double, double) { return std::sqrt(std::fabs(a)); }, 0},
    {"Tanh", "tanh.approx.f32 %r10, %r0;",
     [](double a, double, double) { return std::tanh(a); }, 0x1p-11},
    {"CopySign", "copysign.f32 %r10, %r0, %r1;",
     [](double a, double b, double) { return std::copysign(b, a); }, 0},
    {"RoundToInteger", "cvt.rni.f32.f32 %r10, %r0;",
     [](double a, double, double) { return std::nearbyint(a); }, 0},
    {"TruncateAndBack", "cvt.rzi.s32.f32 %r3, %r0; cvt.rn.f32.s32 %r10, %r3;",
     [](double a, double, double) { return std::trunc(a) + 0.0; }, 0},
};

TEST_P(FloatInstruction, MatchesPlainCode) {
  const FloatCase &c = GetParam();
  KernelResult result = runLanes(c.body, floatInputs);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned lane = 0; lane < 32; ++lane) {
    Inputs in = floatInputs(lane);
    double exact = c.expected(asFloat(in.a), asFloat(in.b), asFloat(in.c));
    float got = result.at<float>(lane);
    if (c.tolerance == 0)
      EXPECT_EQ(got, static_cast<float>(exact)) << "lane " << lane;
    else
      EXPECT_NEAR(got, exact, c.tolerance * std::max(std::fabs(exact), 1e-3))
          << "lane " << lane;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FloatInstruction, testing::ValuesIn(floatCases),
                         [](const auto &info) { return info.param.name; });

/// Every lane computes from the same two words.
uint32_t evaluate(const std::string &body, uint32_t a, uint32_t b = 0,
                  uint32_t c = 0) {
  KernelResult result =
      runLanes(body, [&](unsigned) { return Inputs{a, b, c}; });
  EXPECT_TRUE(result.status.isOk()) << result.status.message();
  return result.at<uint32_t>(7);
}

constexpr uint32_t nan32 = 0x7fc00000, inf32 = 0x7f800000;

TEST(FloatCorners, MinAndMaxIgnoreOneNan) {
  EXPECT_EQ(evaluate("max.f32 %r10, %r0, %r1;", nan32, asBits(2.0f)),
            asBits(2.0f));
  EXPECT_EQ(evaluate("min.f32 %r10, %r0, %r1;", asBits(2.0f), nan32),
            asBits(2.0f));
  EXPECT_EQ(evaluate("max.NaN.f32 %r10, %r0, %r1;", nan32, asBits(2.0f)),
            0x7fffffffu);
}

TEST(FloatCorners, NegativeZeroIsLess) {
  EXPECT_EQ(evaluate("max.f32 %r10, %r0, %r1;", 0x80000000, 0), 0u);
  EXPECT_EQ(evaluate("min.f32 %r10, %r0, %r1;", 0, 0x80000000), 0x80000000u);
}

TEST(FloatCorners, FlushToZeroKeepsTheSign) {
  EXPECT_EQ(evaluate("mul.ftz.f32 %r10, %r0, %r1;", 0x80000001, asBits(1.0f)),
            0x80000000u);
  EXPECT_EQ(evaluate("mul.f32 %r10, %r0, %r1;", 0x80000001, asBits(1.0f)),
            0x80000001u);
  EXPECT_EQ(evaluate("ex2.approx.ftz.f32 %r10, %r0;", asBits(-130.0f)), 0u);
}

TEST(FloatCorners, Exp2AndLog2OfTheExtremes) {
  EXPECT_EQ(evaluate("ex2.approx.ftz.f32 %r10, %r0;", 0xff800000), 0u);
  EXPECT_EQ(evaluate("ex2.approx.ftz.f32 %r10, %r0;", inf32), inf32);
  EXPECT_EQ(evaluate("lg2.approx.f32 %r10, %r0;", 0), 0xff800000u);
  EXPECT_EQ(evaluate("lg2.approx.f32 %r10, %r0;", inf32), inf32);
}

TEST(FloatCorners, UnorderedComparisons) {
  auto compare = [](const std::string &how) {
    return evaluate("setp." + how +
                        ".f32 %p0, %r0, %r1; selp.u32 %r10, 1, 0, %p0;",
                    nan32, asBits(1.0f));
  };
  for (const char *ordered : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    EXPECT_EQ(compare(ordered), 0u) << ordered;
  for (const char *unordered :
       {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    EXPECT_EQ(compare(unordered), 1u) << unordered;
}

TEST(FloatCorners, IntegerConversionSaturates) {
  EXPECT_EQ(evaluate("cvt.rzi.s32.f32 %r10, %r0;", asBits(3e9f)), 0x7fffffffu);
  EXPECT_EQ(evaluate("cvt.rzi.u32.f32 %r10, %r0;", asBits(-5.0f)), 0u);
  EXPECT_EQ(evaluate("cvt.rni.s32.f32 %r10, %r0;", nan32), 0u);
  EXPECT_EQ(evaluate("cvt.rni.s32.f32 %r10, %r0;", asBits(2.5f)), 2u);
}

// Rounding to 16 bits, against a search for the nearest representable value.

uint16_t nearestHalf(float value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return std::isnan(value) ? 0x7fff : bits;
}

uint16_t nearestBf16(float value) {
  if (std::isnan(value))
    return 0x7fff;
  uint32_t bits = asBits(value);
  uint32_t low = bits & 0xffff0000, high = low + 0x10000;
  double down = asFloat(low), up = asFloat(high);
  if (std::isinf(value))
    return static_cast<uint16_t>(bits >> 16);
  // Past the largest finite value the next step stands for 2^128.
  if (std::isinf(asFloat(high)))
    up = std::copysign(0x1p128, value);
  double below = std::fabs(double(value) - down),
         above = std::fabs(up - double(value));
  bool takeUp = above < below || (above == below && (low >> 16 & 1));
  return static_cast<uint16_t>((takeUp ? high : low) >> 16);
}

Inputs roundingInputs(unsigned lane) {
  static constexpr uint32_t values[] = {
      0x3f800000, 0x3f808000, 0x3f818000, 0x3f808001, 0x3f807fff, 0x3f801000,
      0x3f803000, 0x3f801001, 0x477fefff, 0x477ff000, 0x477fe000, 0x33000000,
      0x33000001, 0x33800000, 0x38800000, 0x387fffff, 0x7f7f8000, 0x7f7f7fff,
      0x7f800000, 0x7fc00000, 0xff800000, 0x80000000, 0x00000001, 0x00008000,
      0x00018000, 0xbf818000, 0xc77ff000, 0x7fffffff, 0x00007fff, 0x387fe000,
      0x387fd000, 0xb3000001};
  return {values[lane], values[(lane + 5) % 32], 0};
}

TEST(Rounding, PairsToBf16) {
  KernelResult result =
      runLanes("cvt.rn.bf16x2.f32 %r10, %r0, %r1;", roundingInputs);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned lane = 0; lane < 32; ++lane) {
    Inputs in = roundingInputs(lane);
    EXPECT_EQ(result.at<uint32_t>(lane), uint32_t(nearestBf16(asFloat(in.a)))
                                                 << 16 |
                                             nearestBf16(asFloat(in.b)))
        << std::hex << in.a;
  }
}

TEST(Rounding, PairsToHalf) {
  KernelResult result =
      runLanes("cvt.rn.f16x2.f32 %r10, %r0, %r1;", roundingInputs);
  ASSERT_TRUE(result.status.isOk()) << result.status.message();
  for (unsigned lane = 0; lane < 32; ++lane) {
    Inputs in = roundingInputs(lane);
    EXPECT_EQ(result.at<uint32_t>(lane), uint32_t(nearestHalf(asFloat(in.a)))
                                                 << 16 |
                                             nearestHalf(asFloat(in.b)))
        << std::hex << in.a;
  }
}

TEST(Rounding, TowardZeroAndRelu) {
  EXPECT_EQ(
      evaluate("cvt.rz.bf16x2.f32 %r10, %r0, %r1;", 0x3f81ffff, 0xbf81ffff),
      0x3f81bf81u);
  EXPECT_EQ(
      evaluate("cvt.rz.f16x2.f32 %r10, %r0, %r1;", 0x7f000000, 0xff000000),
      0x7bfffbffu);
  EXPECT_EQ(evaluate("cvt.rn.relu.bf16x2.f32 %r10, %r0, %r1;", asBits(-1.0f),
                     asBits(1.0f)),
            0x00003f80u);
}

TEST(Rounding, HalfToFloatIsExact) {
  for (uint32_t bits : {0x0000u, 0x0001u, 0x03ffu, 0x0400u, 0x3c00u, 0x7bffu,
                        0x7c00u, 0x8001u, 0xfbffu}) {
    _Float16 half;
    uint16_t narrow = static_cast<uint16_t>(bits);
    std::memcpy(&half, &narrow, sizeof half);
    EXPECT_EQ(evaluate("cvt.u16.u32 %h0, %r0; cvt.f32.f16 %r10, %h0;", bits),
              asBits(static_cast<float>(half)));
    EXPECT_EQ(evaluate("cvt.u16.u32 %h0, %r0; cvt.f32.bf16 %r10, %h0;", bits),
              bits << 16);
  }
}

TEST(Rounding, Tf32RoundsAwayFromZero) {
  EXPECT_EQ(evaluate("cvt.rna.tf32.f32 %r10, %r0;", 0x3f801000), 0x3f802000u);
  EXPECT_EQ(evaluate("cvt.rna.tf32.f32 %r10, %r0;", 0x3f800fff), 0x3f800000u);
}

TEST(Rounding, PackedHalfArithmeticRoundsOnce) {
  // 1 + 2^-11 + 2^-24: in two steps the tie would go to even and be lost.
  EXPECT_EQ(evaluate("fma.rn.f16x2 %r10, %r0, %r1, %r2;", 0x10001000,
                     0x10011001, 0x3c003c00) &
                0xffff,
            0x3c00u);
  EXPECT_EQ(evaluate("add.rn.bf16x2 %r10, %r0, %r1;", 0x3f803f80, 0x3b803b80),
            0x3f803f80u);
  EXPECT_EQ(evaluate("max.bf16x2 %r10, %r0, %r1;", 0x3f80c000, 0x40000000),
            0x40000000u);
}

} // namespace
