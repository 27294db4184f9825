//===- TileAttention.cpp - attn-tile --------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.attention  ->  forall (batch, head, query tile) {
//                       forall (worker) {
//                         m = for (key tile) { max of scores }
//                         l, acc = for (key tile) { sums of exp2((s - m) * c) }
//                         O = acc / l; LSE = m * scale + ln 2 * log2 l
//                       }
//                     }
//
// with c = scale * log2(e). The maximum is taken of the raw scores: c is
// positive and nothing non-linear stands between.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/RowVectors.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNTILEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// The inner extent of a matmul is a multiple of this on every target.
constexpr int64_t kInnerStep = 16;

/// Writes the tiles of one attention op.
class Tiler {
public:
  Tiler(AttentionOp op, OpBuilder &builder)
      : op(op), schedule(*op.getSchedule()), builder(builder), loc(op.getLoc()),
        element(getElementTypeOrSelf(op.getQuery())),
        softmax(op.getScale().getType()), rows(schedule.getRowsPerWorker()),
        keys(schedule.getKeys()), headDimVO(op.getHeadDimVO()),
        inner(llvm::alignTo(op.getHeadDimQK(), kInnerStep)) {}

  void tile();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  VectorType vector(ArrayRef<int64_t> shape, Type type) {
    return VectorType::get(shape, type);
  }
  Value splat(VectorType type, double value) {
    return createSplat(builder, loc, type, value);
  }
  Value broadcast(Value scalar, VectorType type) {
    return vector::BroadcastOp::create(builder, loc, type, scalar);
  }

  Value convertFloat(Value value, Type element);
  Value sizeOf(AttentionOp::Dim dim);
  Value memrefOf(unsigned operand);
  SmallVector<Value> indicesOf(unsigned operand, Value position);
  AffineMap permutationOf(unsigned operand, AttentionOp::Dim row);
  Value readTile(unsigned operand, AttentionOp::Dim row, Value position,
                 VectorType type);
  void findVisibleKeys();
  Value scoresOf(Value keyTile);
  Value contract(Value a, Value b, Value accumulator, bool transposeB);
  Value findMaximum(Value numKeyTiles);
  std::pair<Value, Value> sumWeights(Value numKeyTiles, Value maximum);
  void writeResults(Value maximum, Value sum, Value accumulator);
  void tileWorker(Value worker);

  AttentionOp op;
  ScheduleAttr schedule;
  OpBuilder &builder;
  Location loc;
  Type element;
  /// Of scores, sums and accumulators.
  Type softmax;
  int64_t rows, keys, headDimVO, inner;

  /// Values of the tile at hand.
  Value seqlenQ, seqlenK, batch, head, keyHead, firstRow, query, lower, upper,
      exponent;
};

} // namespace

/// The vector `value` in another float type.
Value Tiler::convertFloat(Value value, Type element) {
  auto from = cast<VectorType>(value.getType());
  VectorType to = from.clone(element);
  if (from == to)
    return value;
  if (from.getElementTypeBitWidth() < to.getElementTypeBitWidth())
    return arith::ExtFOp::create(builder, loc, to, value);
  return arith::TruncFOp::create(builder, loc, to, value);
}

Value Tiler::memrefOf(unsigned operand) {
  return operand < 3 ? op->getOperand(operand) : op.getOuts()[operand - 3];
}

Value Tiler::sizeOf(AttentionOp::Dim dim) {
  unsigned operand = dim == AttentionOp::Key ? 1 : 0;
  return memref::DimOp::create(builder, loc, memrefOf(operand),
                               op.getOperandDim(operand, dim));
}

/// Where row (or key) `position` of the tile's batch and head starts.
SmallVector<Value> Tiler::indicesOf(unsigned operand, Value position) {
  SmallVector<Value> indices;
  for (AffineExpr expr : op.getMap(operand).getResults()) {
    if (expr.isFunctionOfDim(AttentionOp::Batch)) {
      indices.push_back(batch);
    } else if (expr.isFunctionOfDim(AttentionOp::Head)) {
      indices.push_back(isa<AffineDimExpr>(expr) ? head : keyHead);
    } else if (expr.isFunctionOfDim(AttentionOp::Row) ||
               expr.isFunctionOfDim(AttentionOp::Key)) {
      indices.push_back(position);
    } else {
      indices.push_back(index(0));
    }
  }
  return indices;
}

/// The dimensions of `operand` that a tile's rows and columns run along.
AffineMap Tiler::permutationOf(unsigned operand, AttentionOp::Dim row) {
  MLIRContext *context = builder.getContext();
  AffineMap map = op.getMap(operand);
  SmallVector<AffineExpr> results = {
      getAffineDimExpr(op.getOperandDim(operand, row), context)};
  for (AttentionOp::Dim column :
       {AttentionOp::HeadDimQK, AttentionOp::HeadDimVO})
    if (map.isFunctionOfDim(column))
      results.push_back(
          getAffineDimExpr(op.getOperandDim(operand, column), context));
  return AffineMap::get(map.getNumResults(), 0, results, context);
}

Value Tiler::readTile(unsigned operand, AttentionOp::Dim row, Value position,
                      VectorType type) {
  AttentionOp::Dim column =
      operand == 2 ? AttentionOp::HeadDimVO : AttentionOp::HeadDimQK;
  int64_t columns = cast<ShapedType>(memrefOf(operand).getType())
                        .getDimSize(op.getOperandDim(operand, column));
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getFloatAttr(element, 0.0));
  return vector::TransferReadOp::create(
      builder, loc, type, memrefOf(operand), indicesOf(operand, position),
      AffineMapAttr::get(permutationOf(operand, row)), zero, /*mask=*/Value(),
      builder.getBoolArrayAttr({false, columns == type.getDimSize(1)}));
}

/// The interval of keys that each row sees, within [0, seqlen_k).
void Tiler::findVisibleKeys() {
  VectorType type = vector({rows}, builder.getIndexType());
  Value step = vector::StepOp::create(builder, loc, type);
  Value row =
      arith::AddIOp::create(builder, loc, step, broadcast(firstRow, type));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value end = broadcast(seqlenK, type);
  lower = zero;
  upper = end;
  BandMaskInterface mask = op.getMaskAttr();
  if (!mask)
    return;
  if (Value bound = mask.lower(builder, loc, row, seqlenQ, seqlenK))
    lower = arith::MaxSIOp::create(builder, loc, bound, zero);
  if (Value bound = mask.upper(builder, loc, row, seqlenQ, seqlenK))
    upper = arith::MinSIOp::create(builder, loc, bound, end);
}

/// a * b + accumulator, b being NxK with `transposeB`.
Value Tiler::contract(Value a, Value b, Value accumulator, bool transposeB) {
  MLIRContext *context = builder.getContext();
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  auto map = [&](AffineExpr row, AffineExpr column) {
    return AffineMap::get(3, 0, {row, column}, context);
  };
  SmallVector<AffineMap> maps = {map(m, k), transposeB ? map(n, k) : map(k, n),
                                 map(m, n)};
  using vector::IteratorType;
  auto iterator = [&](IteratorType type) -> Attribute {
    return vector::IteratorTypeAttr::get(context, type);
  };
  return vector::ContractionOp::create(
      builder, loc, a, b, accumulator, builder.getAffineMapArrayAttr(maps),
      builder.getArrayAttr({iterator(IteratorType::parallel),
                            iterator(IteratorType::parallel),
                            iterator(IteratorType::reduction)}));
}

/// Masked scores of the worker's rows and key tile number `keyTile`.
Value Tiler::scoresOf(Value keyTile) {
  Value firstKey = arith::MulIOp::create(builder, loc, keyTile, index(keys));
  Value key =
      readTile(1, AttentionOp::Key, firstKey, vector({keys, inner}, element));
  Value scores = contract(query, key, splat(vector({rows, keys}, softmax), 0.0),
                          /*transposeB=*/true);
  Value base = broadcast(firstKey, cast<VectorType>(lower.getType()));
  Value first = arith::SubIOp::create(builder, loc, lower, base);
  Value last = arith::SubIOp::create(builder, loc, upper, base);
  return MaskBandOp::create(builder, loc, scores, first, last);
}

Value Tiler::findMaximum(Value numKeyTiles) {
  Value none = splat(vector({rows}, softmax), -INFINITY);
  auto loop = scf::ForOp::create(builder, loc, index(0), numKeyTiles, index(1),
                                 ValueRange{none});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value scores = scoresOf(loop.getInductionVar());
  Value maximum = vector::MultiDimReductionOp::create(
      builder, loc, scores, loop.getRegionIterArg(0),
      ArrayRef<bool>{false, true}, vector::CombiningKind::MAXNUMF);
  scf::YieldOp::create(builder, loc, maximum);
  return loop.getResult(0);
}

/// The sum of each row's weights, and of the weighted values.
std::pair<Value, Value> Tiler::sumWeights(Value numKeyTiles, Value maximum) {
  Value zero = splat(vector({rows}, softmax), 0.0);
  Value reference = createReference(builder, loc, maximum);
  Value noValues = splat(vector({rows, headDimVO}, softmax), 0.0);
  auto loop = scf::ForOp::create(builder, loc, index(0), numKeyTiles, index(1),
                                 ValueRange{zero, noValues});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value keyTile = loop.getInductionVar();
  Value scores = scoresOf(keyTile);
  Value weights = Weights{scores, reference, exponent}.create(builder, loc);
  Value sum = vector::MultiDimReductionOp::create(
      builder, loc, weights, loop.getRegionIterArg(0),
      ArrayRef<bool>{false, true}, vector::CombiningKind::ADD);
  Value rounded = convertFloat(weights, element);
  Value firstKey = arith::MulIOp::create(builder, loc, keyTile, index(keys));
  Value values = readTile(2, AttentionOp::Key, firstKey,
                          vector({keys, headDimVO}, element));
  Value applied = contract(rounded, values, loop.getRegionIterArg(1),
                           /*transposeB=*/false);
  scf::YieldOp::create(builder, loc, ValueRange{sum, applied});
  return {loop.getResult(0), loop.getResult(1)};
}

void Tiler::writeResults(Value maximum, Value sum, Value accumulator) {
  VectorType rowType = vector({rows}, softmax);
  Value zero = splat(rowType, 0.0);
  Value isEmpty =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, sum, zero);
  Value inverse = arith::SelectOp::create(
      builder, loc, isEmpty, zero,
      arith::DivFOp::create(builder, loc, splat(rowType, 1.0), sum));
  Value result =
      arith::MulFOp::create(builder, loc, accumulator,
                            broadcastRows(builder, loc, inverse, headDimVO));
  result = convertFloat(result, getElementTypeOrSelf(op.getOutput()));
  vector::TransferWriteOp::create(
      builder, loc, result, op.getOutput(), indicesOf(3, firstRow),
      AffineMapAttr::get(permutationOf(3, AttentionOp::Row)),
      builder.getBoolArrayAttr({false, true}));

  if (!op.getLse())
    return;
  Value log = math::Log2Op::create(builder, loc, sum);
  Value logOfSum =
      arith::MulFOp::create(builder, loc, log, splat(rowType, M_LN2));
  // Not in bits: the largest scores times log2(e) are beyond the type.
  Value natural = math::FmaOp::create(
      builder, loc, maximum, broadcast(op.getScale(), rowType), logOfSum);
  Value lse = arith::SelectOp::create(builder, loc, isEmpty,
                                      splat(rowType, -INFINITY), natural);
  vector::TransferWriteOp::create(
      builder, loc, lse, op.getLse(), indicesOf(4, firstRow),
      AffineMapAttr::get(permutationOf(4, AttentionOp::Row)),
      builder.getBoolArrayAttr({false}));
}

void Tiler::tileWorker(Value worker) {
  Value offset = arith::MulIOp::create(builder, loc, worker, index(rows));
  firstRow = arith::AddIOp::create(builder, loc, firstRow, offset);
  query =
      readTile(0, AttentionOp::Row, firstRow, vector({rows, inner}, element));
  findVisibleKeys();
  Value numKeyTiles =
      arith::CeilDivUIOp::create(builder, loc, seqlenK, index(keys));
  Value maximum = findMaximum(numKeyTiles);
  auto [sum, accumulator] = sumWeights(numKeyTiles, maximum);
  writeResults(maximum, sum, accumulator);
}

void Tiler::tile() {
  builder.setInsertionPoint(op);
  seqlenQ = sizeOf(AttentionOp::Row);
  seqlenK = sizeOf(AttentionOp::Key);
  Value log2e = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(softmax, M_LOG2E));
  exponent = arith::MulFOp::create(builder, loc, op.getScale(), log2e);
  // Infinity times a difference of 0 would be NaN.
  APFloat largest =
      APFloat::getLargest(cast<FloatType>(softmax).getFloatSemantics());
  exponent = arith::MinNumFOp::create(
      builder, loc, exponent,
      arith::ConstantOp::create(builder, loc,
                                FloatAttr::get(softmax, largest)));
  Value numQueryTiles = arith::CeilDivUIOp::create(builder, loc, seqlenQ,
                                                   index(schedule.getRows()));
  SmallVector<OpFoldResult> bounds = {sizeOf(AttentionOp::Batch),
                                      sizeOf(AttentionOp::Head), numQueryTiles};
  auto tiles = scf::ForallOp::create(builder, loc, bounds, ValueRange(),
                                     /*mapping=*/std::nullopt);
  tiles->setDiscardableAttr(kScheduleAttr, schedule);
  builder.setInsertionPointToStart(tiles.getBody());
  batch = tiles.getInductionVar(0);
  head = tiles.getInductionVar(1);
  keyHead =
      arith::DivUIOp::create(builder, loc, head, index(op.getGroupSize()));
  firstRow = arith::MulIOp::create(builder, loc, tiles.getInductionVar(2),
                                   index(schedule.getRows()));
  SmallVector<OpFoldResult> workers = {
      builder.getIndexAttr(schedule.getWorkers())};
  auto workerLoop = scf::ForallOp::create(builder, loc, workers, ValueRange(),
                                          /*mapping=*/std::nullopt);
  builder.setInsertionPointToStart(workerLoop.getBody());
  tileWorker(workerLoop.getInductionVar(0));
  op.erase();
}

namespace {

struct AttnTile : attn::impl::AttnTilePassBase<AttnTile> {
  void runOnOperation() override {
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      if (!op.getSchedule()) {
        op.emitOpError() << "expected a schedule; run attn-select-schedule";
        return signalPassFailure();
      }
      if (!isa<MemRefType>(op.getQuery().getType())) {
        op.emitOpError()
            << "expected memrefs, but got tensors; bufferize first";
        return signalPassFailure();
      }
      if (!op.getModification().empty()) {
        op.emitOpError() << "expected no modification region: not lowered yet";
        return signalPassFailure();
      }
      OpBuilder builder(op);
      Tiler(op, builder).tile();
    }
  }
};

} // namespace
