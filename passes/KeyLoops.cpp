//===- KeyLoops.cpp - What is known of loops over key tiles ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/KeyLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

/// Deeper than any pass nests them; an operand used twice doubles the work.
static constexpr unsigned kMaxDepth = 8;

/// Whether `value` cannot be greater than `bound`.
static bool isAtMost(Value value, int64_t bound, unsigned depth = 0) {
  auto recurse = [&](Value operand) {
    return depth < kMaxDepth && isAtMost(operand, bound, depth + 1);
  };
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant <= bound;
  if (auto min = value.getDefiningOp<arith::MinSIOp>())
    return recurse(min.getLhs()) || recurse(min.getRhs());
  if (auto max = value.getDefiningOp<arith::MaxSIOp>())
    return recurse(max.getLhs()) && recurse(max.getRhs());
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return recurse(select.getTrueValue()) && recurse(select.getFalseValue());
  return false;
}

bool mlir::attn::runsAtMostOnce(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  return !loop.getUnsignedCmp() && from && step &&
         isAtMost(loop.getUpperBound(), *from + *step);
}

bool mlir::attn::continues(scf::ForOp loop, scf::ForOp next) {
  return next.getLowerBound() == loop.getUpperBound() &&
         llvm::equal(next.getInitArgs(), loop.getResults()) &&
         llvm::all_of(loop->getUsers(),
                      [&](Operation *user) { return user == next; });
}
