//===- MatrixKernels.h - The inner loops of the reference ----- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_MATRIXKERNELS_H
#define ATTN_TOOLS_ATTNC_RUN_MATRIXKERNELS_H

#include <cstdint>

namespace attnc {

/// to[t] += sum over c of vector[c] * matrix[c * pitch + t], t < size.
void accumulateProducts(const double *vector, const double *matrix,
                        int64_t pitch, int64_t depth, int64_t size, double *to);
void accumulateProducts(const float *vector, const float *matrix, int64_t pitch,
                        int64_t depth, int64_t size, float *to);
void accumulateProducts(const long double *vector, const long double *matrix,
                        int64_t pitch, int64_t depth, int64_t size,
                        long double *to);

/// to[c] += sum over t of weights[t] * rows[t * depth + c], c < depth.
void accumulateRows(const double *weights, const double *rows, int64_t count,
                    int64_t depth, double *to);
void accumulateRows(const float *weights, const float *rows, int64_t count,
                    int64_t depth, float *to);
void accumulateRows(const long double *weights, const long double *rows,
                    int64_t count, int64_t depth, long double *to);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_MATRIXKERNELS_H
