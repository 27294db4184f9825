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
#include <map>
#include <optional>
#include <string>

namespace attnc {

/// A spec whose lengths are all known, as the reference needs it.
struct Problem {
  int64_t batch = 0, queries = 0, keys = 0;
  int64_t qoHeads = 0, kvHeads = 0;
  int64_t headDimQk = 0, headDimVo = 0;
  std::string dtype;
  double scale = 0;
  std::optional<double> softcap;
  attn::runtime::Band mask;

  int64_t groupSize() const { return qoHeads / kvHeads; }
  /// By the names that manifests use.
  std::map<std::string, int64_t> names() const;
  /// Multiply-adds twice: q.k and p.v of every visible pair.
  double flops() const;
};

/// Lengths that the user gave, by the names b, sq and sk; what an input file
/// says comes in the same way.
using Shape = std::map<std::string, int64_t>;

/// Reads a complete, valid spec. Unsupported where the reference does not cover
/// a field; InvalidArgument where a length is missing or differs from one that
/// the spec pins.
attn::runtime::Expected<Problem> makeProblem(const std::string &spec,
                                             const Shape &shape);

/// The values that a launch of this spec passes, by the names of its fields
/// without what stands before a dot.
std::map<std::string, double> launchScalars(const std::string &spec);

/// "b=2,sq=64,sk=64".
attn::runtime::Expected<Shape> parseShape(const std::string &text);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_PROBLEM_H
