//===- RowVectors.h - One value per row of a tile ---------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What several passes write about the rows of a tile.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_ROWVECTORS_H
#define ATTN_PASSES_ROWVECTORS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::attn {

/// A constant with `value` everywhere.
Value createSplat(OpBuilder &builder, Location loc, VectorType type,
                  double value);

/// `row`, one value per row, for each of `columns` columns.
Value broadcastRows(OpBuilder &builder, Location loc, Value row,
                    int64_t columns);

/// `row` stretched over the columns of a tile of type `like`; itself where that
/// has one value per row as well.
Value broadcastRowLike(OpBuilder &builder, Location loc, Value row, Type like);

/// What a row's scores are taken relative to: its maximum. A row that sees
/// nothing has maximum -inf; 0 instead leaves its weights at exp2(-inf) = 0.
Value createReference(OpBuilder &builder, Location loc, Value maximum);

/// Which of the references are so large that the rounding of their products
/// with `factor` would show in weights: those beyond 2^11, less what a
/// reference may stay behind the maximum.
Value createIsLarge(OpBuilder &builder, Location loc, Value reference,
                    Value factor);

} // namespace mlir::attn

#endif // ATTN_PASSES_ROWVECTORS_H
