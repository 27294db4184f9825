//===- RowVectors.h - One value per row of a tile ---------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What several passes write about rows. Whoever recomputes a weight must take
// it relative to the same reference as whoever computed it first.
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

/// What to add to a row's scaled scores before the exponential: `-maximum *
/// factor`. A row that sees nothing has maximum -inf; adding 0 instead leaves
/// its weights at exp2(-inf) = 0.
Value createShift(OpBuilder &builder, Location loc, Value maximum,
                  Value factor);

} // namespace mlir::attn

#endif // ATTN_PASSES_ROWVECTORS_H
