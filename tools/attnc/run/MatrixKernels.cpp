//===- MatrixKernels.cpp - The inner loops of the reference ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/MatrixKernels.h"

// Two versions of each loop, chosen when the program starts: vectors of the
// baseline and, where the processor has them, wide ones.
#if defined(__x86_64__) && defined(__ELF__)
#define ATTN_CLONES __attribute__((target_clones("default", "arch=haswell")))
#else
#define ATTN_CLONES
#endif

namespace attnc {

/// Adds `kRows` scaled rows at a time, so that the sums are loaded and stored
/// once for all of them. Rows follow each other at a distance of `pitch`.
template <int kRows, typename T>
__attribute__((always_inline)) static inline void
addRows(const T *__restrict factors, const T *__restrict rows, int64_t pitch,
        int64_t size, T *__restrict to) {
  for (int64_t t = 0; t < size; ++t) {
    T sum = to[t];
    for (int i = 0; i < kRows; ++i)
      sum += factors[i] * rows[i * pitch + t];
    to[t] = sum;
  }
}

template <typename T>
__attribute__((always_inline)) static inline void
addAllRows(const T *factors, const T *rows, int64_t count, int64_t pitch,
           int64_t size, T *to) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    addRows<8>(factors + i, rows + i * pitch, pitch, size, to);
  for (; i < count; ++i)
    addRows<1>(factors + i, rows + i * pitch, pitch, size, to);
}

ATTN_CLONES void accumulateProducts(const double *vector, const double *matrix,
                                    int64_t pitch, int64_t depth, int64_t size,
                                    double *to) {
  addAllRows(vector, matrix, depth, pitch, size, to);
}
ATTN_CLONES void accumulateProducts(const float *vector, const float *matrix,
                                    int64_t pitch, int64_t depth, int64_t size,
                                    float *to) {
  addAllRows(vector, matrix, depth, pitch, size, to);
}
ATTN_CLONES void accumulateRows(const double *weights, const double *rows,
                                int64_t count, int64_t depth, double *to) {
  addAllRows(weights, rows, count, depth, depth, to);
}
ATTN_CLONES void accumulateRows(const float *weights, const float *rows,
                                int64_t count, int64_t depth, float *to) {
  addAllRows(weights, rows, count, depth, depth, to);
}

// No processor has vectors of these.
void accumulateProducts(const long double *vector, const long double *matrix,
                        int64_t pitch, int64_t depth, int64_t size,
                        long double *to) {
  addAllRows(vector, matrix, depth, pitch, size, to);
}
void accumulateRows(const long double *weights, const long double *rows,
                    int64_t count, int64_t depth, long double *to) {
  addAllRows(weights, rows, count, depth, depth, to);
}

} // namespace attnc
