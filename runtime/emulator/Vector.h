//===- Vector.h - 16 lanes at a time ----------------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GCC's vectors, which Clang has too: a function with ATTN_MULTIVERSION that
// uses them is compiled to AVX-512, AVX2 or SSE2. The results are the same bits
// as those of one lane after the other; nothing is contracted or reordered.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_VECTOR_H
#define ATTN_RUNTIME_EMULATOR_VECTOR_H

#include "runtime/emulator/Number.h"

#include <cstdint>
#include <cstring>

// All of it is inlined, so how vectors would be passed does not matter.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace attn::runtime::emulator {

#define ATTN_VECTOR(T, bytes) typedef T __attribute__((vector_size(bytes)))
ATTN_VECTOR(uint32_t, 64) U32x16;
ATTN_VECTOR(int32_t, 64) S32x16;
ATTN_VECTOR(float, 64) F32x16;
ATTN_VECTOR(uint64_t, 64) U64x8;
ATTN_VECTOR(int64_t, 64) S64x8;
ATTN_VECTOR(double, 64) F64x8;
ATTN_VECTOR(float, 32) F32x8;
ATTN_VECTOR(uint32_t, 32) U32x8;
ATTN_VECTOR(float, 16) F32x4;
ATTN_VECTOR(uint32_t, 16) U32x4;
ATTN_VECTOR(uint16_t, 32) U16x16;
#undef ATTN_VECTOR

#define ATTN_INLINE static inline __attribute__((always_inline))

template <typename V>
ATTN_INLINE V loadVector(const void *from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename V>
ATTN_INLINE void storeVector(void *to, V value) {
  std::memcpy(to, &value, sizeof value);
}

/// yes where the bits of `mask` are set, else no.
template <typename V, typename M>
ATTN_INLINE V blend(M mask, V yes, V no) {
  return (V)(((M)yes & mask) | ((M)no & ~mask));
}

/// All ones in the lanes that are on, of lanes 16 `half` to 16 `half` + 15.
ATTN_INLINE U32x16 laneMask(uint32_t bits, unsigned half) {
  const U32x16 lane = {1u << 0,  1u << 1,  1u << 2,  1u << 3,
                       1u << 4,  1u << 5,  1u << 6,  1u << 7,
                       1u << 8,  1u << 9,  1u << 10, 1u << 11,
                       1u << 12, 1u << 13, 1u << 14, 1u << 15};
  return (U32x16)(((bits >> (16 * half)) & lane) != 0);
}

/// The same of 8 lanes of 64 bits, from lane 8 `quarter`.
ATTN_INLINE U64x8 wideMask(uint32_t bits, unsigned quarter) {
  const U64x8 lane = {1, 2, 4, 8, 16, 32, 64, 128};
  return (U64x8)(((uint64_t(bits) >> (8 * quarter)) & lane) != 0);
}

/// One bit for each lane of which all bits are set.
ATTN_INLINE uint32_t maskBits(U32x16 low, U32x16 high) {
  const U32x16 lane = {1u << 0,  1u << 1,  1u << 2,  1u << 3,
                       1u << 4,  1u << 5,  1u << 6,  1u << 7,
                       1u << 8,  1u << 9,  1u << 10, 1u << 11,
                       1u << 12, 1u << 13, 1u << 14, 1u << 15};
  U32x16 bits = (low & lane) | ((high & lane) << 16);
  uint32_t parts[16], all = 0;
  storeVector(parts, bits);
  for (uint32_t part : parts)
    all |= part;
  return all;
}

/// Number.h's canonical.
ATTN_INLINE F32x16 canonicalLanes(F32x16 x) {
  return blend((U32x16)(x != x), (F32x16)((U32x16){} + canonicalNan), x);
}

/// Number.h's floatToBf16 and floatToHalf, without the branches.
ATTN_INLINE U32x16 toBf16(U32x16 bits) {
  U32x16 rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  U32x16 isNan = (U32x16)((bits & 0x7fffffff) > 0x7f800000);
  return blend(isNan, (U32x16){} + 0x7fff, rounded);
}

ATTN_INLINE U32x16 toHalf(U32x16 bits) {
  U32x16 sign = (bits & 0x80000000) >> 16, magnitude = bits & 0x7fffffff;
  // Rebias the exponent; round half to even by what the bits below are.
  U32x16 normal =
      (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // An addition rounds a subnormal to a multiple of 2^-24.
  F32x16 shifted = (F32x16)magnitude + 0.5f;
  U32x16 subnormal = (U32x16)shifted - 0x3f000000;
  U32x16 result = blend((U32x16)(magnitude < (113u << 23)), subnormal, normal);
  result =
      blend((U32x16)(magnitude >= (143u << 23)), (U32x16){} + 0x7c00, result);
  result |= sign;
  return blend((U32x16)(magnitude > 0x7f800000), (U32x16){} + 0x7fff, result);
}

/// Number.h's exp2 of 8 lanes.
ATTN_INLINE F64x8 exp2Wide(F64x8 x) {
  const F64x8 most = (F64x8){} + 1000.0, least = (F64x8){} - 1000.0;
  x = blend((U64x8)(x > most), most, x);
  x = blend((U64x8)(x < least), least, x);
  F64x8 shifted = x + 0x1.8p52;
  F64x8 r = x - (shifted - 0x1.8p52);
  F64x8 sum = (F64x8){} + exp2Terms[exp2Degree];
  for (unsigned i = exp2Degree; i-- > 0;)
    sum = sum * r + exp2Terms[i];
  U64x8 scale = ((U64x8)shifted + 1023) << 52;
  return sum * (F64x8)scale;
}

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_VECTOR_H
