//===- attention.c - Plain attention, a thread a row ----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of attention.ptx, which says how to compile it.
//
//===----------------------------------------------------------------------===//

typedef unsigned short u16;
typedef long long i64;
#define GLOBAL __attribute__((address_space(1)))
#define DEPTH 16

static inline float widen(u16 bits) {
  _Float16 half;
  __builtin_memcpy(&half, &bits, 2);
  return (float)half;
}

static inline u16 narrow(float value) {
  _Float16 half = (_Float16)value;
  u16 bits;
  __builtin_memcpy(&bits, &half, 2);
  return bits;
}

__attribute__((nvptx_kernel)) void
attention(const GLOBAL u16 *q, const GLOBAL u16 *k, const GLOBAL u16 *v,
          GLOBAL u16 *o, GLOBAL float *lse, int batch, int queries, int keys,
          int qoHeads, int kvHeads, i64 qb, i64 qs, i64 qh, i64 kb, i64 ks,
          i64 kh, i64 vb, i64 vs, i64 vh, i64 ob, i64 os, i64 oh,
          float scale) {
  for (int tile = __nvvm_read_ptx_sreg_ctaid_x(); tile < batch * queries;
       tile += __nvvm_read_ptx_sreg_nctaid_x()) {
    int b = tile / queries, i = tile % queries;
    int visible = i + keys - queries + 1;
    if (visible > keys)
      visible = keys;
    for (int h = __nvvm_read_ptx_sreg_tid_x(); h < qoHeads; h += 32) {
      int g = h / (qoHeads / kvHeads);
      float max = -__builtin_inff(), sum = 0, acc[DEPTH];
#pragma unroll
      for (int c = 0; c < DEPTH; c++)
        acc[c] = 0;
      for (int j = 0; j < visible; j++) {
        float s = 0;
#pragma unroll
        for (int c = 0; c < DEPTH; c++)
          s += widen(q[b * qb + i * qs + h * qh + c]) *
               widen(k[b * kb + j * ks + g * kh + c]);
        s *= scale * 1.44269504f;
        float newMax = s > max ? s : max;
        float factor = __nvvm_ex2_approx_f(max - newMax);
        float p = __nvvm_ex2_approx_f(s - newMax);
        sum = sum * factor + p;
        max = newMax;
#pragma unroll
        for (int c = 0; c < DEPTH; c++)
          acc[c] = acc[c] * factor + p * widen(v[b * vb + j * vs + g * vh + c]);
      }
      float inverse = sum > 0 ? 1 / sum : 0;
#pragma unroll
      for (int c = 0; c < DEPTH; c++)
        o[b * ob + i * os + h * oh + c] = narrow(acc[c] * inverse);
      lse[((i64)b * qoHeads + h) * queries + i] =
          sum > 0 ? (max + __nvvm_lg2_approx_f(sum)) * 0.693147181f
                  : -__builtin_inff();
    }
  }
}
