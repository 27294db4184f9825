//===- RowEvaluator.h - Vectors of positions as scalars ---------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bounds of a mask are vectors with one entry per row, made of
// `vector.step` and elementwise arithmetic on it. One row's entry is the same
// arithmetic on that row's number:
//
//   %u = addi (addi step, broadcast %first), broadcast %shift
//   evaluate(%u, row 63)  ->  addi (addi 63, %first), %shift
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_ROWEVALUATOR_H
#define ATTN_PASSES_ROWEVALUATOR_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::attn {

/// Evaluates one row's entry of vectors of positions.
class RowEvaluator {
public:
  /// For row `row` of the vectors, among what they are computed from.
  RowEvaluator(OpBuilder &builder, Location loc, Value row)
      : builder(builder), loc(loc), row(row) {}

  /// For row `row` of all workers together, of `rowsPerWorker` rows each,
  /// outside of the loop over them.
  RowEvaluator(OpBuilder &builder, Location loc, scf::ForallOp workers,
               int64_t rowsPerWorker, Value row)
      : builder(builder), loc(loc), row(row), workers(workers),
        rowsPerWorker(rowsPerWorker) {}

  /// Null where `value` is made of something else than positions and scalars.
  Value evaluate(Value value);

private:
  /// Whether `op` is out of reach where the result is wanted.
  bool isInsideWorkers(Operation *op) {
    return op && workers && workers->isProperAncestor(op);
  }
  Value evaluateVector(Value value, Operation *op);
  Value evaluateOperation(Operation *op, Type type);

  OpBuilder &builder;
  Location loc;
  Value row;
  scf::ForallOp workers;
  int64_t rowsPerWorker = 0;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_ROWEVALUATOR_H
