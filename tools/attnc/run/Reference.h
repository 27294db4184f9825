//===- Reference.h - Attention in float64 or better ----------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two computations of the same rows, both textbook: all scores of a row, their
// softmax, the sum over values. In double precision, for f64 in long double, it
// is what is right. With scores and weights rounded to the input dtype and sums
// in float, for f64 in double, it is the plain matmul-softmax-matmul that sets
// the numeric bar.
//
// A key that a row cannot see is skipped altogether: whatever stands in K and V
// there, NaN included, takes no part.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_REFERENCE_H
#define ATTN_TOOLS_ATTNC_RUN_REFERENCE_H

#include "tools/attnc/run/HostTensor.h"
#include "tools/attnc/run/Problem.h"

namespace attnc {

struct ReferenceInputs {
  const HostTensor *q = nullptr, *k = nullptr, *v = nullptr;
};

/// Rows of one head of one batch entry, and what comes out for them.
struct RowBlock {
  int64_t batch = 0, head = 0;
  std::vector<int64_t> rows;
  /// rows x headDimVo.
  std::vector<double> o;
  std::vector<double> lse;
};

/// More rows than this a block should not have: all their scores are held.
constexpr int64_t kMaxBlockRows = 64;

/// Fills o and lse of the block with the right result, rounded to float64.
void computeReference(const Problem &problem, const ReferenceInputs &inputs,
                      RowBlock &block);

/// The same as plain matmul-softmax-matmul in `format`, o unrounded.
void computePlain(const Problem &problem, const ReferenceInputs &inputs,
                  FloatFormat format, RowBlock &block);

/// Fills lse alone, as computeReference does, or plainly in f32; in f64 for
/// inputs of f64.
void computeReferenceLse(const Problem &problem, const ReferenceInputs &inputs,
                         RowBlock &block);
void computePlainLse(const Problem &problem, const ReferenceInputs &inputs,
                     FloatFormat format, RowBlock &block);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_REFERENCE_H
