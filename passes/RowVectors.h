//===- RowVectors.h - One value per row of a tile ---------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What several passes write about rows, and find again. Whoever recomputes a
// weight must take it relative to the same reference as whoever computed it
// first.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_ROWVECTORS_H
#define ATTN_PASSES_ROWVECTORS_H

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace mlir::attn {

/// A constant with `value` everywhere.
Value createSplat(OpBuilder &builder, Location loc, VectorType type,
                  double value);

/// Whether `row`, one value per row, is one for all of them by how it is made.
bool isSameForAllRows(Value row);

/// `row`, one value per row, for each of `columns` columns.
Value broadcastRows(OpBuilder &builder, Location loc, Value row,
                    int64_t columns);

/// `row` stretched over the columns of a tile of type `like`; itself where that
/// has one value per row as well.
Value broadcastRowLike(OpBuilder &builder, Location loc, Value row, Type like);

/// What a row's scores are taken relative to: its maximum. A row that sees
/// nothing has maximum -inf; 0 instead leaves its weights at exp2(-inf) = 0.
Value createReference(OpBuilder &builder, Location loc, Value maximum);

/// exp2((scores - reference) * factor), of tiles of scores or of one per row.
/// The difference comes first: it is exact near the maximum and no product can
/// overflow that matters, so a score equal to the reference has weight 1,
/// however large both are.
struct Weights {
  Value scores;
  /// One value per row.
  Value reference;
  /// The scalar, greater than 0.
  Value factor;

  Value create(OpBuilder &builder, Location loc) const;
  /// None where `op` is anything else.
  static std::optional<Weights> match(math::Exp2Op op);
};

} // namespace mlir::attn

#endif // ATTN_PASSES_ROWVECTORS_H
