//===- RowVectors.cpp - One value per row of a tile -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/RowVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

Value attn::createSplat(OpBuilder &builder, Location loc, VectorType type,
                        double value) {
  auto element = builder.getFloatAttr(type.getElementType(), value);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, element));
}

bool attn::isSameForAllRows(Value row) {
  SplatElementsAttr constant;
  return row.getDefiningOp<vector::BroadcastOp>() ||
         matchPattern(row, m_Constant(&constant));
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

/// What `broadcastRowLike` stretched, or null.
static Value getBroadcastRow(Value value) {
  if (cast<VectorType>(value.getType()).getRank() == 1)
    return value;
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  auto column = broadcast
                    ? broadcast.getSource().getDefiningOp<vector::ShapeCastOp>()
                    : vector::ShapeCastOp();
  if (!column || column.getSourceVectorType().getRank() != 1 ||
      column.getResultVectorType().getShape().back() != 1)
    return {};
  return column.getSource();
}

/// The scalar behind broadcast(scalar), or null.
static Value getBroadcastScalar(Value value) {
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  if (!broadcast || isa<VectorType>(broadcast.getSourceType()))
    return {};
  return broadcast.getSource();
}

Value attn::createReference(OpBuilder &builder, Location loc, Value maximum) {
  auto type = cast<VectorType>(maximum.getType());
  Value isEmpty =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, maximum,
                            createSplat(builder, loc, type, -INFINITY));
  return arith::SelectOp::create(builder, loc, isEmpty,
                                 createSplat(builder, loc, type, 0.0), maximum);
}

Value Weights::create(OpBuilder &builder, Location loc) const {
  Type type = scores.getType();
  Value difference = arith::SubFOp::create(
      builder, loc, scores, broadcastRowLike(builder, loc, reference, type));
  Value power = arith::MulFOp::create(
      builder, loc, difference,
      vector::BroadcastOp::create(builder, loc, type, factor));
  return math::Exp2Op::create(builder, loc, power);
}

std::optional<Weights> Weights::match(math::Exp2Op op) {
  auto power = op.getOperand().getDefiningOp<arith::MulFOp>();
  auto difference =
      power ? power.getLhs().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  if (!difference || !isa<VectorType>(op.getType()))
    return std::nullopt;
  Weights found{difference.getLhs(), getBroadcastRow(difference.getRhs()),
                getBroadcastScalar(power.getRhs())};
  if (!found.reference || !found.factor)
    return std::nullopt;
  return found;
}
