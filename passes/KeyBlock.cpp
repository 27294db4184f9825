//===- KeyBlock.cpp - A few keys of a tile, computed again ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/KeyBlock.h"
#include "passes/RowVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::attn;

static bool isOnlyReading(Operation *op) {
  return isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op);
}

/// `type`, whose last dimension is along the keys of a tile, for the block.
Type KeyBlock::narrow(Type type) {
  auto vector = cast<VectorType>(type);
  SmallVector<int64_t> shape(vector.getShape());
  shape.back() = size;
  return VectorType::get(shape, vector.getElementType());
}

/// `value` of the body that has no column per key.
Value KeyBlock::computeRows(Value value) {
  if (Value known = rows.lookupOrNull(value))
    return known;
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  // Left are what the loop carries and the number of the iteration: a block
  // has neither.
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return block(loop);
  if (op->getNumRegions() != 0 || !isOnlyReading(op))
    return block(op);
  for (Value operand : op->getOperands())
    if (Value copy = computeRows(operand))
      rows.map(operand, copy);
    else
      return {};
  builder.clone(*op, rows);
  return rows.lookup(value);
}

Value KeyBlock::compute(Value value) {
  if (Value known = columns.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<VectorType>(value.getType());
  if (!op || op->getNumResults() != 1 || !type || type.getRank() > 2 ||
      type.getShape().back() != static_cast<int64_t>(loop.getStep()))
    return block(op ? op : loop);
  Value result;
  if (auto mask = dyn_cast<TileMaskOpInterface>(op))
    result = compute(mask.getUnmasked());
  else if (auto product = dyn_cast<vector::ContractionOp>(op))
    result = multiply(product);
  else if (auto read = dyn_cast<vector::TransferReadOp>(op))
    result = cloneRead(read);
  else
    result = cloneOp(op);
  if (result)
    columns.map(value, result);
  return result;
}

/// Whether `operand` has a column per key where the result of its op has one.
static bool hasColumns(OpOperand &operand) {
  auto source = dyn_cast<VectorType>(operand.get().getType());
  auto result = cast<VectorType>(operand.getOwner()->getResult(0).getType());
  if (!source)
    return false;
  if (isa<vector::BroadcastOp, vector::ShapeCastOp>(operand.getOwner()))
    return source.getShape().back() == result.getShape().back();
  return source.getShape() == result.getShape();
}

Value KeyBlock::cloneOp(Operation *op) {
  SplatElementsAttr splat;
  Type type = narrow(op->getResult(0).getType());
  if (matchPattern(op, m_Constant(&splat)))
    return arith::ConstantOp::create(
        builder, op->getLoc(),
        DenseElementsAttr::get(cast<ShapedType>(type),
                               splat.getSplatValue<Attribute>()));
  bool isKnown = OpTrait::hasElementwiseMappableTraits(op) ||
                 isa<vector::BroadcastOp, vector::StepOp, SoftmaxWeightsOp>(op);
  // From one column per key to a row of them or back, rows as they are.
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op))
    isKnown = cast.getSourceVectorType().getNumElements() ==
                  static_cast<int64_t>(loop.getStep()) &&
              hasColumns(cast->getOpOperand(0));
  if (!isKnown || op->getNumRegions() != 0)
    return block(op);
  IRMapping operands;
  for (OpOperand &operand : op->getOpOperands()) {
    // The answer was about other rows' references, and may be found anew.
    if (auto weights = dyn_cast<SoftmaxWeightsOp>(op);
        weights && operand.get() == weights.getLarge())
      continue;
    Value copy = hasColumns(operand) ? compute(operand.get())
                                     : computeRows(operand.get());
    if (!copy)
      return {};
    operands.map(operand.get(), copy);
  }
  Operation *copy = builder.clone(*op, operands);
  if (auto weights = dyn_cast<SoftmaxWeightsOp>(copy))
    weights.getLargeMutable().clear();
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// Elements for the same keys, which the tile's position finds.
Value KeyBlock::cloneRead(vector::TransferReadOp read) {
  if (read.getMask() || read->getBlock() != loop.getBody())
    return block(read);
  SmallVector<Value> indices;
  for (Value index : read.getIndices())
    if (!indices.emplace_back(computeRows(index)))
      return {};
  SmallVector<bool> inside = read.getInBoundsValues();
  return vector::TransferReadOp::create(
      builder, read.getLoc(), cast<VectorType>(narrow(read.getType())),
      read.getBase(), indices, read.getPermutationMapAttr(), read.getPadding(),
      /*mask=*/Value(), builder.getBoolArrayAttr(inside));
}

/// `mask`, with `scores` of the block in place of what it is applied to.
Value KeyBlock::cloneMask(TileMaskOpInterface mask, Value scores) {
  IRMapping operands;
  for (OpOperand &operand : mask->getOpOperands()) {
    Value copy = operand.get() == mask.getUnmasked() ? scores
                 : hasColumns(operand) ? compute(operand.get())
                                       : computeRows(operand.get());
    if (!copy)
      return {};
    operands.map(operand.get(), copy);
  }
  Operation *copy = builder.clone(*mask, operands);
  copy->getResult(0).setType(scores.getType());
  return copy->getResult(0);
}

Value KeyBlock::computeVisible(int64_t numRows) {
  Location loc = loop.getLoc();
  auto type = VectorType::get({numRows, size}, builder.getF32Type());
  Value zero = createSplat(builder, loc, type, 0.0);
  Value scores = zero;
  for (Operation &op : *loop.getBody())
    if (auto mask = dyn_cast<TileMaskOpInterface>(op))
      if (!(scores = cloneMask(mask, scores)))
        return {};
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, scores,
                               zero);
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// Whether `product` is of rows with rows, from 0 on.
static bool isRowsByRows(vector::ContractionOp product) {
  MLIRContext *context = product.getContext();
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  auto map = [&](AffineExpr row, AffineExpr column) {
    return AffineMap::get(3, 0, {row, column}, context);
  };
  return product.getKind() == vector::CombiningKind::ADD &&
         product.getIndexingMapsArray() ==
             SmallVector<AffineMap>{map(m, k), map(n, k), map(m, n)} &&
         matchPattern(product.getAcc(), m_AnyZeroFloat());
}

/// Column `column` of a tile, whose rows run along the one dimension of `type`
/// that is not 1, in f32.
Value KeyBlock::readColumn(vector::TransferReadOp read, Value column,
                           VectorType type) {
  Location loc = read.getLoc();
  unsigned rowDim = getTransferDim(read, 0),
           columnDim = getTransferDim(read, 1);
  SmallVector<Value> indices;
  for (Value index : read.getIndices())
    if (!indices.emplace_back(computeRows(index)))
      return {};
  indices[columnDim] =
      builder.createOrFold<arith::AddIOp>(loc, column, indices[columnDim]);
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> dims = {getAffineDimExpr(rowDim, context)};
  SmallVector<bool> inside = {read.getInBoundsValues()[0]};
  if (type.getRank() == 2) {
    dims.insert(dims.begin(), getAffineDimExpr(columnDim, context));
    inside.insert(inside.begin(), true);
  }
  auto map =
      AffineMap::get(read.getPermutationMap().getNumDims(), 0, dims, context);
  Value values = vector::TransferReadOp::create(
      builder, loc, type.clone(read.getVectorType().getElementType()),
      read.getBase(), indices, AffineMapAttr::get(map), read.getPadding(),
      /*mask=*/Value(), builder.getBoolArrayAttr(inside));
  return arith::ExtFOp::create(builder, loc, type, values);
}

/// Column by column of both tiles, each of which makes an outer product.
Value KeyBlock::multiply(vector::ContractionOp product) {
  auto a = product.getLhs().getDefiningOp<vector::TransferReadOp>();
  auto b = product.getRhs().getDefiningOp<vector::TransferReadOp>();
  if (!isRowsByRows(product) || !a || !b || a.getMask() || b.getMask() ||
      loop.isDefinedOutsideOfLoop(b))
    return block(product);
  Location loc = product.getLoc();
  auto type = cast<VectorType>(narrow(product.getResultType()));
  Type element = type.getElementType();
  Value end = arith::ConstantIndexOp::create(builder, loc,
                                             b.getVectorType().getDimSize(1));
  if (!b.getInBoundsValues()[1])
    end = builder.createOrFold<memref::DimOp>(loc, b.getBase(),
                                              getTransferDim(b, 1));
  auto columnLoop = scf::ForOp::create(
      builder, loc, arith::ConstantIndexOp::create(builder, loc, 0), end,
      arith::ConstantIndexOp::create(builder, loc, 1),
      createSplat(builder, loc, type, 0.0));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(columnLoop.getBody());
  IRMapping outside = rows;
  Value column = columnLoop.getInductionVar();
  Value ofRows =
      readColumn(a, column, VectorType::get({type.getDimSize(0)}, element));
  Value ofKeys =
      readColumn(b, column, VectorType::get({1, type.getDimSize(1)}, element));
  // What was computed here is not there behind the loop.
  rows = outside;
  Value sums = columnLoop.getRegionIterArg(0);
  if (ofRows && ofKeys)
    sums = math::FmaOp::create(
        builder, loc, broadcastRows(builder, loc, ofRows, size),
        vector::BroadcastOp::create(builder, loc, type, ofKeys), sums);
  scf::YieldOp::create(builder, loc, sums);
  return ofRows && ofKeys ? columnLoop.getResult(0) : Value();
}
