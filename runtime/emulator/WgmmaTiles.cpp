//===- WgmmaTiles.cpp - wgmma as a blocked product ------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each accumulator gets its 16 products one after the other, as in Wgmma.cpp,
// so that the bits are the same.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/WgmmaTiles.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Vector.h"

using namespace attn::runtime;
using namespace attn::runtime::emulator;

namespace {

#define ATTN_EACH_4(item) item(0), item(4), item(8), item(12)
#define ATTN_UNPACK_LOW(i) i, 16 + i, i + 1, 17 + i
#define ATTN_UNPACK_HIGH(i) i + 2, 18 + i, i + 3, 19 + i
#define ATTN_PAIR_LOW(i) i, i + 1, 16 + i, 17 + i
#define ATTN_PAIR_HIGH(i) i + 2, i + 3, 18 + i, 19 + i

/// Transposes 4 rows of 16: element 4 l + q of row r goes to element 4 l + r of
/// row q.
ATTN_INLINE void transpose(F32x16 (&rows)[4]) {
  F32x16 low01 =
      __builtin_shufflevector(rows[0], rows[1], ATTN_EACH_4(ATTN_UNPACK_LOW));
  F32x16 high01 =
      __builtin_shufflevector(rows[0], rows[1], ATTN_EACH_4(ATTN_UNPACK_HIGH));
  F32x16 low23 =
      __builtin_shufflevector(rows[2], rows[3], ATTN_EACH_4(ATTN_UNPACK_LOW));
  F32x16 high23 =
      __builtin_shufflevector(rows[2], rows[3], ATTN_EACH_4(ATTN_UNPACK_HIGH));
  rows[0] = __builtin_shufflevector(low01, low23, ATTN_EACH_4(ATTN_PAIR_LOW));
  rows[1] = __builtin_shufflevector(low01, low23, ATTN_EACH_4(ATTN_PAIR_HIGH));
  rows[2] = __builtin_shufflevector(high01, high23, ATTN_EACH_4(ATTN_PAIR_LOW));
  rows[3] =
      __builtin_shufflevector(high01, high23, ATTN_EACH_4(ATTN_PAIR_HIGH));
}

/// 16-bit floats in the lower halves of words.
template <typename U, typename F, typename S>
ATTN_INLINE F widen(U bits, Type type) {
  if (type == Type::BF16)
    return (F)(bits << 16);
  U sign = (bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  U normal = (magnitude << 13) + (112u << 23);
  U special = 0x7f800000 | (magnitude & 0x3ff) << 13;
  U subnormal = (U)(__builtin_convertvector((S)magnitude, F) * 0x1p-24f);
  U result = blend((U)(magnitude < 0x400), subnormal, normal);
  return (F)(blend((U)(magnitude >= 0x7c00), special, result) | sign);
}
typedef int32_t __attribute__((vector_size(16))) S32x4;
ATTN_INLINE F32x16 widen(U32x16 bits, Type type) {
  return widen<U32x16, F32x16, S32x16>(bits, type);
}
ATTN_INLINE F32x4 widen(U32x4 bits, Type type) {
  return widen<U32x4, F32x4, S32x4>(bits, type);
}

/// The 16 bytes of one chunk, checked.
class Chunks {
public:
  Chunks(const WgmmaTiles::Shared &shared, const MatrixDescriptor &descriptor,
         bool transposed)
      : shared_(shared), descriptor_(descriptor), transposed_(transposed) {}

  /// Chunk `k` of row `mn`, or chunk `mn` of row `k`; null out of bounds.
  const uint8_t *at(unsigned mn, unsigned k) const {
    uint32_t address = descriptor_.chunkAddress(mn, k, transposed_);
    if (address < shared_.begin || address + 16 > shared_.end)
      return nullptr;
    return shared_.bytes + address;
  }

private:
  const WgmmaTiles::Shared &shared_;
  const MatrixDescriptor &descriptor_;
  bool transposed_;
};

/// The 16 values along K of rows `first`, `first` + `step` and so on.
ATTN_INLINE bool readRows(const Chunks &chunks, unsigned first, unsigned step,
                          Type type, float scale, F32x16 (&rows)[4]) {
  for (unsigned i = 0; i < 4; ++i) {
    const uint8_t *low = chunks.at(first + step * i, 0);
    const uint8_t *high = chunks.at(first + step * i, 1);
    if (!low || !high)
      return false;
    uint16_t halves[16];
    std::memcpy(halves, low, 16);
    std::memcpy(halves + 8, high, 16);
    U32x16 bits = __builtin_convertvector(loadVector<U16x16>(halves), U32x16);
    rows[i] = widen(bits, type) * scale;
  }
  return true;
}

#define ATTN_REPEAT(i) i, i, i, i
#define ATTN_SPREAD(name, a, b, c, d)                                          \
  ATTN_INLINE F32x16 name(F32x16 v) {                                          \
    return __builtin_shufflevector(v, v, ATTN_REPEAT(a), ATTN_REPEAT(b),       \
                                   ATTN_REPEAT(c), ATTN_REPEAT(d));            \
  }
// Each value of a group of 4 for 4 lanes, and value i of each group.
ATTN_SPREAD(spreadGroup0, 0, 1, 2, 3)
ATTN_SPREAD(spreadGroup1, 4, 5, 6, 7)
ATTN_SPREAD(spreadGroup2, 8, 9, 10, 11)
ATTN_SPREAD(spreadGroup3, 12, 13, 14, 15)
ATTN_SPREAD(spreadEach0, 0, 4, 8, 12)
ATTN_SPREAD(spreadEach1, 1, 5, 9, 13)
ATTN_SPREAD(spreadEach2, 2, 6, 10, 14)
ATTN_SPREAD(spreadEach3, 3, 7, 11, 15)

using RowsOfA = float (*)[warpLanes];

/// 4 rows of A for the lanes from `lane` on.
ATTN_INLINE void storeRows(const F32x16 (&rows)[4], RowsOfA a, unsigned lane) {
  for (unsigned q = 0; q < 4; ++q) {
    storeVector(a[q] + lane, spreadGroup0(rows[q]));
    storeVector(a[4 + q] + lane, spreadGroup1(rows[q]));
    storeVector(a[8 + q] + lane, spreadGroup2(rows[q]));
    storeVector(a[12 + q] + lane, spreadGroup3(rows[q]));
  }
}

ATTN_INLINE bool readStraightAInline(const Chunks &chunks, unsigned first,
                                     Type type, float scale, RowsOfA a) {
  for (unsigned half = 0; half < 2; ++half) {
    F32x16 rows[4];
    if (!readRows(chunks, first + 4 * half, 1, type, scale, rows))
      return false;
    transpose(rows);
    storeRows(rows, a, 16 * half);
  }
  return true;
}

/// Register `r` of a warp: columns 2 (l % 4) + 8 (r / 2) and the next.
ATTN_INLINE void readRegisterAInline(const uint32_t *words, unsigned r,
                                     Type type, float scale, RowsOfA a) {
  for (unsigned half = 0; half < 2; ++half) {
    U32x16 bits = loadVector<U32x16>(words + 16 * half);
    for (unsigned c = 0; c < 2; ++c) {
      F32x16 v = widen((bits >> (16 * c)) & 0xffff, type) * scale;
      unsigned k = 8 * (r / 2) + c;
      storeVector(a[k] + 16 * half, spreadEach0(v));
      storeVector(a[k + 2] + 16 * half, spreadEach1(v));
      storeVector(a[k + 4] + 16 * half, spreadEach2(v));
      storeVector(a[k + 6] + 16 * half, spreadEach3(v));
    }
  }
}

using ColumnsOfB = float (*)[4][4][4];

/// 8 columns of B whose memory runs along K.
ATTN_INLINE bool readStraightBInline(const Chunks &chunks, unsigned first,
                                     Type type, float scale, ColumnsOfB b) {
  for (unsigned odd = 0; odd < 2; ++odd) {
    F32x16 rows[4];
    if (!readRows(chunks, first + odd, 2, type, scale, rows))
      return false;
    transpose(rows);
    for (unsigned q = 0; q < 4; ++q)
      storeVector(b[odd][q], rows[q]);
  }
  return true;
}

/// 8 columns of B whose memory runs along N.
ATTN_INLINE bool readTransposedBInline(const Chunks &chunks, unsigned chunk,
                                       Type type, float scale, ColumnsOfB b) {
  for (unsigned k = 0; k < 16; ++k) {
    const uint8_t *from = chunks.at(chunk, k);
    if (!from)
      return false;
    U32x4 bits = loadVector<U32x4>(from);
    for (unsigned odd = 0; odd < 2; ++odd)
      storeVector(b[odd][k % 4][k / 4],
                  widen((bits >> (16 * odd)) & 0xffff, type) * scale);
  }
  return true;
}

/// `count` accumulators, each of 32 lanes.
template <unsigned count>
ATTN_INLINE void multiplyBlock(const float (*a)[warpLanes],
                               const float (*b)[4][4][4], float *const *sums,
                               bool accumulate) {
  F32x16 sum[count][2];
  for (unsigned i = 0; i < count; ++i)
    for (unsigned half = 0; half < 2; ++half)
      sum[i][half] =
          accumulate ? loadVector<F32x16>(sums[i] + 16 * half) : (F32x16){};
  for (unsigned k = 0; k < 16; ++k) {
    F32x16 low = loadVector<F32x16>(a[k]), high = loadVector<F32x16>(a[k] + 16);
    for (unsigned i = 0; i < count; ++i) {
      F32x4 v = loadVector<F32x4>(b[i][k % 4][k / 4]);
      F32x16 all = __builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1,
                                           2, 3, 0, 1, 2, 3);
      sum[i][0] += low * all;
      sum[i][1] += high * all;
    }
  }
  for (unsigned i = 0; i < count; ++i)
    for (unsigned half = 0; half < 2; ++half)
      storeVector(sums[i] + 16 * half, canonicalLanes(sum[i][half]));
}

/// A warp's upper or lower 8 rows: `count` accumulators, an even number.
ATTN_INLINE void multiplyRowsInline(const float (*a)[warpLanes],
                                    const float (*b)[4][4][4],
                                    float *const *sums, unsigned count,
                                    bool accumulate) {
  unsigned i = 0;
  for (; i + 4 <= count; i += 4)
    multiplyBlock<4>(a, b + i, sums + i, accumulate);
  for (; i < count; i += 2)
    multiplyBlock<2>(a, b + i, sums + i, accumulate);
}

/// Register r of lane l holds column l / 4, rows 2 (l % 4) + 8 r and the next.
ATTN_INLINE void readRegisterBInline(const uint32_t *const (&registers)[2],
                                     Type type, ColumnsOfB b) {
  // By register and half of it, by lane.
  float values[2][2][warpLanes];
  for (unsigned r = 0; r < 2; ++r)
    for (unsigned e = 0; e < 2; ++e)
      for (unsigned half = 0; half < 2; ++half) {
        U32x16 bits = loadVector<U32x16>(registers[r] + 16 * half);
        storeVector(values[r][e] + 16 * half,
                    widen((bits >> (16 * e)) & 0xffff, type));
      }
  for (unsigned odd = 0; odd < 2; ++odd) {
    // Row q is column 2 q + odd; its group 2 r + e has the rows of that half.
    float rows[4][4][4];
    for (unsigned q = 0; q < 4; ++q)
      for (unsigned group = 0; group < 4; ++group)
        std::memcpy(rows[q][group],
                    values[group / 2][group % 2] + 4 * (2 * q + odd), 16);
    F32x16 vectors[4];
    for (unsigned q = 0; q < 4; ++q)
      vectors[q] = loadVector<F32x16>(rows[q]);
    transpose(vectors);
    for (unsigned pair = 0; pair < 4; ++pair) {
      storeVector(rows[pair], vectors[pair]);
      for (unsigned group = 0; group < 4; ++group) {
        unsigned k = 2 * pair + 8 * (group / 2) + group % 2;
        std::memcpy(b[odd][k % 4][k / 4], rows[pair][group], 16);
      }
    }
  }
}

// Vectors cannot be passed between functions for different processors, so that
// only the outermost functions are compiled for each.

ATTN_MULTIVERSION bool readStraightA(const Chunks &chunks, unsigned first,
                                     Type type, float scale, RowsOfA a) {
  return readStraightAInline(chunks, first, type, scale, a);
}

ATTN_MULTIVERSION void readRegisterA(const uint32_t *words, unsigned r,
                                     Type type, float scale, RowsOfA a) {
  readRegisterAInline(words, r, type, scale, a);
}

ATTN_MULTIVERSION bool readStraightB(const Chunks &chunks, unsigned first,
                                     Type type, float scale, ColumnsOfB b) {
  return readStraightBInline(chunks, first, type, scale, b);
}

ATTN_MULTIVERSION bool readTransposedB(const Chunks &chunks, unsigned chunk,
                                       Type type, float scale, ColumnsOfB b) {
  return readTransposedBInline(chunks, chunk, type, scale, b);
}

ATTN_MULTIVERSION void multiplyRows(const float (*a)[warpLanes],
                                    const float (*b)[4][4][4],
                                    float *const *sums, unsigned count,
                                    bool accumulate) {
  multiplyRowsInline(a, b, sums, count, accumulate);
}

ATTN_MULTIVERSION void readRegisterB(const uint32_t *const (&registers)[2],
                                     Type type, ColumnsOfB b) {
  readRegisterBInline(registers, type, b);
}

} // namespace

void WgmmaTiles::readA(unsigned warp, const uint32_t *const (&registers)[4],
                       Type type, float scale) {
  for (unsigned r = 0; r < 4; ++r)
    readRegisterA(registers[r], r, type, scale, a_[warp][r % 2]);
}

bool WgmmaTiles::readA(const Shared &shared, const MatrixDescriptor &descriptor,
                       bool transposed, Type type, float scale) {
  Chunks chunks(shared, descriptor, transposed);
  for (unsigned group = 0; group < 8; ++group) {
    RowsOfA a = a_[group / 2][group % 2];
    if (!transposed) {
      if (!readStraightA(chunks, 8 * group, type, scale, a))
        return false;
      continue;
    }
    for (unsigned k = 0; k < depth; ++k) {
      const uint8_t *from = chunks.at(group, k);
      if (!from)
        return false;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        uint16_t bits;
        std::memcpy(&bits, from + lane / 4 * 2, sizeof bits);
        a[k][lane] =
            (type == Type::BF16 ? bf16ToFloat(bits) : halfToFloat(bits)) *
            scale;
      }
    }
  }
  return true;
}

bool WgmmaTiles::readB(const Shared &shared, const MatrixDescriptor &descriptor,
                       unsigned n, bool transposed, Type type, float scale) {
  Chunks chunks(shared, descriptor, transposed);
  for (unsigned group = 0; group < n / 8; ++group)
    if (!(transposed
              ? readTransposedB(chunks, group, type, scale, b_[group])
              : readStraightB(chunks, 8 * group, type, scale, b_[group])))
      return false;
  return true;
}

void WgmmaTiles::readB(const uint32_t *const (&registers)[2], Type type) {
  readRegisterB(registers, type, b_[0]);
}

void WgmmaTiles::multiply(unsigned warp, unsigned n,
                          uint32_t *const *accumulators,
                          bool accumulate) const {
  // Accumulator 4 j + 2 i + c is half i of the rows, column c of 8 j + ...
  float *sums[most / 4];
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned i = 0; i < n / 4; ++i)
      sums[i] =
          reinterpret_cast<float *>(accumulators[i / 2 * 4 + 2 * half + i % 2]);
    multiplyRows(a_[warp][half], b_[0], sums, n / 4, accumulate);
  }
}
