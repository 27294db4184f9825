//===- Compare.h - Whether a result is within the bar --------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bar: no element of O is further from the float64 result than twice the
// largest error of the plain computation in the input dtype, plus one rounding
// of the output; LSE is within 1e-5, relative above 1, or within twice the
// largest error of the same LSE computed plainly in f32, which is more where
// large scores cancel. NaN and infinity must stand exactly where the float64
// result has them.
//
// In f32 and f64 the plain computation of a few keys may be exact, where
// another order of sums is not: there an error of 1e-6 and 1e-14, relative to
// the largest element above 1, is always within the bar. LSE of f64 is within
// 1e-14, or twice the error of the plain computation in f64.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_COMPARE_H
#define ATTN_TOOLS_ATTNC_RUN_COMPARE_H

#include "tools/attnc/run/Reference.h"

#include <array>
#include <optional>

namespace attnc {

/// One element of a result and what it should be.
struct Sample {
  /// Batch entry, head, row, column; the column is -1 in LSE.
  std::array<int64_t, 4> at{};
  double got = 0, expected = 0;
  /// How far off, in the measure by which the worst element is chosen.
  double error = -1;
};

struct Comparison {
  int64_t rowsChecked = 0, rowsTotal = 0;

  double maxAbsError = 0;
  double maxAbsExpected = 0;
  /// Squares, for the relative error in the 2-norm.
  double errorSquares = 0, expectedSquares = 0;
  double plainMaxAbsError = 0;
  /// By how much the error passes one rounding of the output, at most.
  Sample worst;
  int64_t nanCount = 0;
  /// Elements where NaN or infinity stands, or should, and the other does not.
  int64_t specialMismatches = 0;
  std::optional<Sample> firstMismatch;

  bool hasLse = false;
  /// Relative above 1, absolute below.
  double lseError = 0;
  Sample worstLse;
  int64_t lseMismatches = 0;
  std::optional<Sample> firstLseMismatch;

  /// Of the plain computation, in the same measure; 0 where nothing depends on
  /// it.
  double plainLseError = 0;

  /// What is allowed whatever the plain computation does.
  double oTolerance = 0, lseTolerance = 0;

  /// How far beyond one rounding of the output an element of O may be.
  double oBar() const;
  double lseBar() const;
  /// The largest error against the largest element: single elements may be
  /// arbitrarily close to zero, where their own relative error says nothing.
  double maxRelError() const;
  double relativeNorm() const;
  bool isOWithinBar() const;
  bool isLseWithinBar() const;
  bool isWithinBar() const { return isOWithinBar() && isLseWithinBar(); }
};

/// How many rows the reference can do in a minute or so: 0 for all.
int64_t affordableRows(const Problem &problem);

/// Compares o, and lse if there is one, with the reference. `checkRows` > 0
/// checks only so many rows, the same for the same seed, the first and the last
/// among them.
Comparison compareResults(const Problem &problem, const ReferenceInputs &inputs,
                          const HostTensor &o, const HostTensor *lse,
                          int64_t checkRows, uint64_t seed);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_COMPARE_H
