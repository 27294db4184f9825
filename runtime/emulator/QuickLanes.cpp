//===- QuickLanes.cpp - Instructions that are a loop over lanes -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same bits as the families' own functions give. Each operation is written
// once, for 16 lanes of 32 bits or 8 of 64; the macros make a function for all
// lanes and one that keeps those that are off.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Number.h"
#include "runtime/emulator/Quick.h"
#include "runtime/emulator/Vector.h"

#include <unordered_map>

using namespace attn::runtime::emulator;

namespace {

ATTN_INLINE const uint8_t *source(const QuickState &s, uint32_t operand) {
  return (operand & 1 ? s.constants : s.registers) + (operand & ~1u);
}

ATTN_INLINE uint32_t predicate(const QuickState &s, uint32_t operand) {
  uint32_t bits = s.predicates[operand >> 1];
  return operand & 1 ? ~bits : bits;
}

template <bool full, typename V>
ATTN_INLINE void finish(uint8_t *to, V value, uint32_t mask, unsigned half) {
  if (!full)
    value = blend(laneMask(mask, half), value, loadVector<V>(to));
  storeVector(to, value);
}

template <bool full, typename V>
ATTN_INLINE void finishWide(uint8_t *to, V value, uint32_t mask,
                            unsigned quarter) {
  if (!full)
    value = blend(wideMask(mask, quarter), value, loadVector<V>(to));
  storeVector(to, value);
}

ATTN_INLINE void setPredicate(const QuickState &s, uint32_t index,
                              uint32_t bits, uint32_t mask) {
  uint32_t &target = s.predicates[index];
  target = (target & ~mask) | (bits & mask);
}

/// A function for all lanes and one for some. The parameter `full` is known
/// when each is compiled.
#define ATTN_QUICK(Name, ...)                                                  \
  template <bool full>                                                         \
  ATTN_INLINE void Name(const QuickState &s, const QuickInst &q,               \
                        uint32_t mask){                                        \
      __VA_ARGS__} ATTN_MULTIVERSION void Name##Full(const QuickState &s,      \
                                                     const QuickInst &q,       \
                                                     uint32_t mask) {          \
    Name<true>(s, q, mask);                                                    \
  }                                                                            \
  ATTN_MULTIVERSION void Name##Masked(const QuickState &s, const QuickInst &q, \
                                      uint32_t mask) {                         \
    Name<false>(s, q, mask);                                                   \
  }

/// Of 16 lanes of type V: `x`, `y` and `z` are the operands.
#define ATTN_LANES(Name, V, expression)                                        \
  ATTN_QUICK(                                                                  \
      Name, uint8_t *to = s.registers + q.result;                              \
      const uint8_t *a = source(s, q.a), *b = source(s, q.b),                  \
      *c = source(s, q.c);                                                     \
      for (unsigned half = 0; half < 2; ++half) {                              \
        [[maybe_unused]] V x = loadVector<V>(a + 64 * half);                   \
        [[maybe_unused]] V y = loadVector<V>(b + 64 * half);                   \
        [[maybe_unused]] V z = loadVector<V>(c + 64 * half);                   \
        finish<full>(to + 64 * half, V(expression), mask, half);               \
      })

/// Of 8 lanes of 64 bits.
#define ATTN_WIDE(Name, V, expression)                                         \
  ATTN_QUICK(                                                                  \
      Name, uint8_t *to = s.registers + q.result;                              \
      const uint8_t *a = source(s, q.a), *b = source(s, q.b),                  \
      *c = source(s, q.c);                                                     \
      for (unsigned quarter = 0; quarter < 4; ++quarter) {                     \
        [[maybe_unused]] V x = loadVector<V>(a + 64 * quarter);                \
        [[maybe_unused]] V y = loadVector<V>(b + 64 * quarter);                \
        [[maybe_unused]] V z = loadVector<V>(c + 64 * quarter);                \
        finishWide<full>(to + 64 * quarter, V(expression), mask, quarter);     \
      })

/// A comparison of 32-bit values into one or two predicates.
#define ATTN_COMPARE(Name, V, comparison)                                      \
  ATTN_QUICK(                                                                  \
      Name, const uint8_t *a = source(s, q.a), *b = source(s, q.b);            \
      U32x16 results[2]; for (unsigned half = 0; half < 2; ++half) {           \
        V x = loadVector<V>(a + 64 * half), y = loadVector<V>(b + 64 * half);  \
        results[half] = (U32x16)(x comparison y);                              \
      } setPredicate(s, q.result, maskBits(results[0], results[1]), mask);)

// Integers. A shift by 32 or more gives 0, or the sign.

ATTN_LANES(MoveWord, U32x16, x)
ATTN_LANES(AddWord, U32x16, x + y)
ATTN_LANES(SubWord, U32x16, x - y)
ATTN_LANES(MulWord, U32x16, x *y)
ATTN_LANES(MadWord, U32x16, x *y + z)
ATTN_LANES(AndWord, U32x16, x &y)
ATTN_LANES(OrWord, U32x16, x | y)
ATTN_LANES(XorWord, U32x16, x ^ y)
ATTN_LANES(ShlWord, U32x16, blend((U32x16)(y > 31), (U32x16){}, x << (y & 31)))
ATTN_LANES(ShrWord, U32x16, blend((U32x16)(y > 31), (U32x16){}, x >> (y & 31)))
ATTN_LANES(ShrSigned, S32x16,
           x >> (S32x16)blend((U32x16)((U32x16)y > 31), (U32x16){} + 31,
                              (U32x16)y))
ATTN_LANES(MinSigned, S32x16, blend((U32x16)(x < y), x, y))
ATTN_LANES(MaxSigned, S32x16, blend((U32x16)(x > y), x, y))
ATTN_LANES(MinUnsigned, U32x16, blend((U32x16)(x < y), x, y))
ATTN_LANES(MaxUnsigned, U32x16, blend((U32x16)(x > y), x, y))
ATTN_WIDE(MoveWide, U64x8, x)
ATTN_WIDE(AddWide, U64x8, x + y)
ATTN_WIDE(SubWide, U64x8, x - y)
ATTN_WIDE(MulWide, U64x8, x *y)
ATTN_WIDE(AndWide, U64x8, x &y)
ATTN_WIDE(OrWide, U64x8, x | y)

// Floats, without .ftz, .sat and .relu.

/// Of a NaN and a number the number; -0 is less than +0.
ATTN_INLINE F32x16 maximum(F32x16 x, F32x16 y) {
  F32x16 result = blend((U32x16)(x > y), x, y);
  result = blend((U32x16)(x == y), (F32x16)((U32x16)x & (U32x16)y), result);
  U32x16 onlyY = (U32x16)(y != y) & (U32x16)(x == x);
  return blend(onlyY, x, result);
}
ATTN_INLINE F32x16 minimum(F32x16 x, F32x16 y) {
  F32x16 result = blend((U32x16)(x < y), x, y);
  result = blend((U32x16)(x == y), (F32x16)((U32x16)x | (U32x16)y), result);
  U32x16 onlyY = (U32x16)(y != y) & (U32x16)(x == x);
  return blend(onlyY, x, result);
}
ATTN_INLINE F32x16 fused(F32x16 x, F32x16 y, F32x16 z) {
  float a[16], b[16], c[16];
  storeVector(a, x);
  storeVector(b, y);
  storeVector(c, z);
  for (unsigned i = 0; i < 16; ++i)
    a[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return loadVector<F32x16>(a);
}
ATTN_INLINE F32x16 flushed(F32x16 x) {
  U32x16 bits = (U32x16)x;
  return (F32x16)blend((U32x16)((bits & 0x7f800000) == 0), bits & 0x80000000,
                       bits);
}
ATTN_INLINE F32x16 exponential(F32x16 x) {
  float in[16], out[16];
  storeVector(in, x);
  for (unsigned half = 0; half < 2; ++half) {
    F64x8 wide =
        __builtin_convertvector(loadVector<F32x8>(in + 8 * half), F64x8);
    storeVector(out + 8 * half, __builtin_convertvector(exp2Wide(wide), F32x8));
  }
  return loadVector<F32x16>(out);
}

ATTN_LANES(AddFloat, F32x16, canonicalLanes(x + y))
ATTN_LANES(SubFloat, F32x16, canonicalLanes(x - y))
ATTN_LANES(MulFloat, F32x16, canonicalLanes(x *y))
ATTN_LANES(FmaFloat, F32x16, canonicalLanes(fused(x, y, z)))
ATTN_LANES(MaxFloat, F32x16, canonicalLanes(maximum(x, y)))
ATTN_LANES(MinFloat, F32x16, canonicalLanes(minimum(x, y)))
ATTN_LANES(NegFloat, U32x16, x ^ 0x80000000)
ATTN_LANES(Ex2Float, F32x16, exponential(x))
ATTN_LANES(Ex2Flushed, F32x16, flushed(exponential(flushed(x))))

// Conversions: the first operand goes to the upper half.

ATTN_LANES(PairToBf16, U32x16, toBf16(x) << 16 | toBf16(y))
ATTN_LANES(PairToHalf, U32x16, toHalf(x) << 16 | toHalf(y))
ATTN_LANES(Bf16ToFloat, U32x16, x << 16)
ATTN_QUICK(
    ExtendUnsigned, uint8_t *to = s.registers + q.result;
    const uint8_t *a = source(s, q.a);
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
      U64x8 x =
          __builtin_convertvector(loadVector<U32x8>(a + 32 * quarter), U64x8);
      finishWide<full>(to + 64 * quarter, x, mask, quarter);
    })

// Predicates.

ATTN_COMPARE(LtSigned, S32x16, <)
ATTN_COMPARE(LeSigned, S32x16, <=)
ATTN_COMPARE(GtSigned, S32x16, >)
ATTN_COMPARE(GeSigned, S32x16, >=)
ATTN_COMPARE(LtUnsigned, U32x16, <)
ATTN_COMPARE(LeUnsigned, U32x16, <=)
ATTN_COMPARE(GtUnsigned, U32x16, >)
ATTN_COMPARE(GeUnsigned, U32x16, >=)
ATTN_COMPARE(EqWord, U32x16, ==)
ATTN_COMPARE(NeWord, U32x16, !=)
ATTN_COMPARE(LtFloat, F32x16, <)
ATTN_COMPARE(LeFloat, F32x16, <=)
ATTN_COMPARE(GtFloat, F32x16, >)
ATTN_COMPARE(GeFloat, F32x16, >=)
ATTN_COMPARE(EqFloat, F32x16, ==)

ATTN_QUICK(
    Select, uint8_t *to = s.registers + q.result;
    const uint8_t *a = source(s, q.a), *b = source(s, q.b);
    uint32_t bits = predicate(s, q.c);
    for (unsigned half = 0; half < 2; ++half) {
      U32x16 value =
          blend(laneMask(bits, half), loadVector<U32x16>(a + 64 * half),
                loadVector<U32x16>(b + 64 * half));
      finish<full>(to + 64 * half, value, mask, half);
    })
ATTN_QUICK(AndPredicate,
           setPredicate(s, q.result, predicate(s, q.a) & predicate(s, q.b),
                        mask);)
ATTN_QUICK(OrPredicate,
           setPredicate(s, q.result, predicate(s, q.a) | predicate(s, q.b),
                        mask);)
ATTN_QUICK(NotPredicate, setPredicate(s, q.result, ~predicate(s, q.a), mask);)

/// Of a butterfly over all lanes: `extra` is what lane numbers differ by.
void shuffle(const QuickState &s, const QuickInst &q, uint32_t) {
  uint32_t values[warpLanes], result[warpLanes];
  std::memcpy(values, source(s, q.a), sizeof values);
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = values[lane ^ q.extra];
  std::memcpy(s.registers + q.result, result, sizeof result);
}

#define ATTN_ENTRY(name, operands, Name)                                       \
  {name, operands, Name##Full, Name##Masked}

const QuickEntry entries[] = {
    ATTN_ENTRY("mov.b32", "rx", MoveWord),
    ATTN_ENTRY("mov.u32", "rx", MoveWord),
    ATTN_ENTRY("mov.s32", "rx", MoveWord),
    ATTN_ENTRY("mov.f32", "rx", MoveWord),
    ATTN_ENTRY("mov.b64", "dy", MoveWide),
    ATTN_ENTRY("mov.u64", "dy", MoveWide),
    ATTN_ENTRY("add.s32", "rxx", AddWord),
    ATTN_ENTRY("add.u32", "rxx", AddWord),
    ATTN_ENTRY("sub.s32", "rxx", SubWord),
    ATTN_ENTRY("sub.u32", "rxx", SubWord),
    ATTN_ENTRY("mul.lo.s32", "rxx", MulWord),
    ATTN_ENTRY("mul.lo.u32", "rxx", MulWord),
    ATTN_ENTRY("mad.lo.s32", "rxxx", MadWord),
    ATTN_ENTRY("mad.lo.u32", "rxxx", MadWord),
    ATTN_ENTRY("and.b32", "rxx", AndWord),
    ATTN_ENTRY("or.b32", "rxx", OrWord),
    ATTN_ENTRY("xor.b32", "rxx", XorWord),
    ATTN_ENTRY("shl.b32", "rxx", ShlWord),
    ATTN_ENTRY("shr.u32", "rxx", ShrWord),
    ATTN_ENTRY("shr.s32", "rxx", ShrSigned),
    ATTN_ENTRY("min.s32", "rxx", MinSigned),
    ATTN_ENTRY("max.s32", "rxx", MaxSigned),
    ATTN_ENTRY("min.u32", "rxx", MinUnsigned),
    ATTN_ENTRY("max.u32", "rxx", MaxUnsigned),
    ATTN_ENTRY("add.s64", "dyy", AddWide),
    ATTN_ENTRY("add.u64", "dyy", AddWide),
    ATTN_ENTRY("sub.s64", "dyy", SubWide),
    ATTN_ENTRY("mul.lo.s64", "dyy", MulWide),
    ATTN_ENTRY("mul.lo.u64", "dyy", MulWide),
    ATTN_ENTRY("and.b64", "dyy", AndWide),
    ATTN_ENTRY("or.b64", "dyy", OrWide),
    ATTN_ENTRY("cvt.u64.u32", "dx", ExtendUnsigned),
    ATTN_ENTRY("add.f32", "rxx", AddFloat),
    ATTN_ENTRY("add.rn.f32", "rxx", AddFloat),
    ATTN_ENTRY("sub.f32", "rxx", SubFloat),
    ATTN_ENTRY("sub.rn.f32", "rxx", SubFloat),
    ATTN_ENTRY("mul.f32", "rxx", MulFloat),
    ATTN_ENTRY("mul.rn.f32", "rxx", MulFloat),
    ATTN_ENTRY("fma.rn.f32", "rxxx", FmaFloat),
    ATTN_ENTRY("max.f32", "rxx", MaxFloat),
    ATTN_ENTRY("min.f32", "rxx", MinFloat),
    ATTN_ENTRY("neg.f32", "rx", NegFloat),
    ATTN_ENTRY("ex2.approx.f32", "rx", Ex2Float),
    ATTN_ENTRY("ex2.approx.ftz.f32", "rx", Ex2Flushed),
    ATTN_ENTRY("cvt.rn.bf16x2.f32", "rxx", PairToBf16),
    ATTN_ENTRY("cvt.rn.f16x2.f32", "rxx", PairToHalf),
    ATTN_ENTRY("cvt.f32.bf16", "rx", Bf16ToFloat),
    ATTN_ENTRY("setp.lt.s32", "p_xx", LtSigned),
    ATTN_ENTRY("setp.le.s32", "p_xx", LeSigned),
    ATTN_ENTRY("setp.gt.s32", "p_xx", GtSigned),
    ATTN_ENTRY("setp.ge.s32", "p_xx", GeSigned),
    ATTN_ENTRY("setp.lt.u32", "p_xx", LtUnsigned),
    ATTN_ENTRY("setp.le.u32", "p_xx", LeUnsigned),
    ATTN_ENTRY("setp.gt.u32", "p_xx", GtUnsigned),
    ATTN_ENTRY("setp.ge.u32", "p_xx", GeUnsigned),
    ATTN_ENTRY("setp.eq.s32", "p_xx", EqWord),
    ATTN_ENTRY("setp.eq.u32", "p_xx", EqWord),
    ATTN_ENTRY("setp.eq.b32", "p_xx", EqWord),
    ATTN_ENTRY("setp.ne.s32", "p_xx", NeWord),
    ATTN_ENTRY("setp.ne.u32", "p_xx", NeWord),
    ATTN_ENTRY("setp.ne.b32", "p_xx", NeWord),
    ATTN_ENTRY("setp.lt.f32", "p_xx", LtFloat),
    ATTN_ENTRY("setp.le.f32", "p_xx", LeFloat),
    ATTN_ENTRY("setp.gt.f32", "p_xx", GtFloat),
    ATTN_ENTRY("setp.ge.f32", "p_xx", GeFloat),
    ATTN_ENTRY("setp.eq.f32", "p_xx", EqFloat),
    ATTN_ENTRY("selp.b32", "rxxp", Select),
    ATTN_ENTRY("selp.f32", "rxxp", Select),
    ATTN_ENTRY("selp.s32", "rxxp", Select),
    ATTN_ENTRY("selp.u32", "rxxp", Select),
    ATTN_ENTRY("and.pred", "ppp", AndPredicate),
    ATTN_ENTRY("or.pred", "ppp", OrPredicate),
    ATTN_ENTRY("not.pred", "pp", NotPredicate),
    {"shfl.sync.bfly.b32", "r_xlwm", shuffle, nullptr},
};

} // namespace

const QuickEntry *attn::runtime::emulator::findQuick(std::string_view name) {
  static const auto byName = [] {
    std::unordered_map<std::string_view, const QuickEntry *> result;
    for (const QuickEntry &entry : entries)
      result.emplace(entry.name, &entry);
    return result;
  }();
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : it->second;
}
