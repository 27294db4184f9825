//===- TripCounts.cpp - What is known of loop bounds ----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/TripCounts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

bool mlir::attn::isAtMost(Value value, int64_t bound) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant <= bound;
  if (auto min = value.getDefiningOp<arith::MinSIOp>())
    return isAtMost(min.getLhs(), bound) || isAtMost(min.getRhs(), bound);
  if (auto max = value.getDefiningOp<arith::MaxSIOp>())
    return isAtMost(max.getLhs(), bound) && isAtMost(max.getRhs(), bound);
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return isAtMost(select.getTrueValue(), bound) &&
           isAtMost(select.getFalseValue(), bound);
  return false;
}

bool mlir::attn::runsAtMostOnce(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  return from && step && isAtMost(loop.getUpperBound(), *from + *step);
}
