//===- Problem.h - What one run computes ---------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_PROBLEM_H
#define ATTN_TOOLS_ATTNC_RUN_PROBLEM_H

#include "runtime/Status.h"
#include "runtime/Visibility.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attnc {

/// The keys [first, last) that a row sees, before the ends are clamped to those
/// there are.
struct KeyInterval {
  int64_t first = 0, last = 0;
};

/// The intervals of all rows of a mask that no spec can name, for these
/// lengths; nothing where they cannot be told.
using FindIntervals = std::function<std::optional<std::vector<KeyInterval>>(
    int64_t queries, int64_t keys)>;

/// A spec whose lengths are all known, as the reference needs it.
struct Problem {
  int64_t batch = 0, queries = 0, keys = 0;
  int64_t qoHeads = 0, kvHeads = 0;
  int64_t headDimQk = 0, headDimVo = 0;
  std::string dtype;
  double scale = 0;
  std::optional<double> softcap;
  attn::runtime::Band mask;
  /// Where they are there, in place of `mask`.
  std::optional<std::vector<KeyInterval>> intervals;

  int64_t groupSize() const { return qoHeads / kvHeads; }
  /// By the names that manifests use.
  std::map<std::string, int64_t> names() const;
  /// The keys that a row sees, of those there are.
  KeyInterval visibleKeys(int64_t row) const;
  /// (query, key) pairs of one head of one sequence.
  int64_t visiblePairs() const;
  /// Multiply-adds twice: q.k and p.v of every visible pair.
  double flops() const;
};

/// Lengths that the user gave, by the names b, sq and sk; what an input file
/// says comes in the same way.
using Shape = std::map<std::string, int64_t>;

/// Reads a complete, valid spec. Unsupported where the reference does not cover
/// a field; InvalidArgument where a length is missing or differs from one that
/// the spec pins.
/// `findIntervals` is there for a spec whose mask kind is "attribute".
attn::runtime::Expected<Problem>
makeProblem(const std::string &spec, const Shape &shape,
            const FindIntervals &findIntervals = nullptr);

/// The values that a launch of this spec passes, by the names of its fields
/// without what stands before a dot.
std::map<std::string, double> launchScalars(const std::string &spec);

/// "b=2,sq=64,sk=64".
attn::runtime::Expected<Shape> parseShape(const std::string &text);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_PROBLEM_H
