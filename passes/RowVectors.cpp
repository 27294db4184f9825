//===- RowVectors.cpp - One value per row of a tile -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/RowVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

Value attn::createSplat(OpBuilder &builder, Location loc, VectorType type,
                        double value) {
  auto element = builder.getFloatAttr(type.getElementType(), value);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, element));
}

Value attn::broadcastRows(OpBuilder &builder, Location loc, Value row,
                          int64_t columns) {
  auto type = cast<VectorType>(row.getType());
  int64_t rows = type.getDimSize(0);
  Value column = vector::ShapeCastOp::create(
      builder, loc, VectorType::get({rows, 1}, type.getElementType()), row);
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get({rows, columns}, type.getElementType()),
      column);
}

Value attn::broadcastRowLike(OpBuilder &builder, Location loc, Value row,
                             Type like) {
  auto type = cast<VectorType>(like);
  if (type.getRank() == 1)
    return row;
  return broadcastRows(builder, loc, row, type.getDimSize(1));
}

Value attn::createReference(OpBuilder &builder, Location loc, Value maximum) {
  auto type = cast<VectorType>(maximum.getType());
  Value isEmpty =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, maximum,
                            createSplat(builder, loc, type, -INFINITY));
  return arith::SelectOp::create(builder, loc, isEmpty,
                                 createSplat(builder, loc, type, 0.0), maximum);
}

/// 2^11 has bits down to 2^-13 in f32, half of which is lost.
static constexpr double kLimit = 2048 - 16;

// Asked of the reference, not of its product, which would need a register where
// mma.sync kernels have none to spare; the quotient is the same for all tiles.
Value attn::createIsLarge(OpBuilder &builder, Location loc, Value reference,
                          Value factor) {
  auto type = cast<VectorType>(reference.getType());
  Value limit = arith::DivFOp::create(
      builder, loc,
      arith::ConstantOp::create(builder, loc,
                                builder.getFloatAttr(factor.getType(), kLimit)),
      factor);
  return arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OGT,
      math::AbsFOp::create(builder, loc, reference),
      vector::BroadcastOp::create(builder, loc, type, limit));
}
