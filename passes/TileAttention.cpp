//===- TileAttention.cpp - attn-tile --------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.attention  ->  tile_grid (batch, head, query tile; worker) {
//                       m = tile_loop over keys { max of scores }
//                       l, acc = tile_loop over keys { sums of exp2((s - m) c)
//                       } O = acc / l; LSE = m * unit + ln 2 * log2 l
//                     }
//
// with c = unit * log2(e), and unit the scale. The maximum is taken of the raw
// scores: c is positive and nothing non-linear stands between, so that the
// scale costs nothing per score. With a softcap, s is tanh(raw * scale / cap),
// and unit is the cap.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/RowVectors.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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
  SmallVector<Value> indicesOf(AttentionOp::Tensor tensor, Value position);
  AffineMap permutationOf(AttentionOp::Tensor tensor, AttentionOp::Dim row);
  Value readTile(AttentionOp::Tensor tensor, AttentionOp::Dim row,
                 Value position, VectorType type);
  void findVisibleKeys();
  Value scoresOf(Value firstKey);
  Value contract(Value a, Value b, Value accumulator, bool transposeB);
  TileLoopOp loopOverKeys(ValueRange inits, ArrayRef<CarriedRole> roles);
  Value findMaximum();
  std::pair<Value, Value> sumWeights(Value maximum);
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
      zero, numKeyTiles;
  /// What the raw scores are multiplied by before the tanh of a softcap; what
  /// scores are in natural units; and that times log2(e).
  Value inverseCap, unit, factor;
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

Value Tiler::sizeOf(AttentionOp::Dim dim) {
  auto tensor =
      dim == AttentionOp::Key ? AttentionOp::KeyTensor : AttentionOp::Query;
  return memref::DimOp::create(builder, loc, op.getTensor(tensor),
                               op.getOperandDim(tensor, dim));
}

/// Where row (or key) `position` of the tile's batch and head starts.
SmallVector<Value> Tiler::indicesOf(AttentionOp::Tensor tensor,
                                    Value position) {
  SmallVector<Value> indices;
  for (AffineExpr expr : op.getMap(tensor).getResults()) {
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
AffineMap Tiler::permutationOf(AttentionOp::Tensor tensor,
                               AttentionOp::Dim row) {
  MLIRContext *context = builder.getContext();
  AffineMap map = op.getMap(tensor);
  SmallVector<AffineExpr> results = {
      getAffineDimExpr(op.getOperandDim(tensor, row), context)};
  for (AttentionOp::Dim column :
       {AttentionOp::HeadDimQK, AttentionOp::HeadDimVO})
    if (map.isFunctionOfDim(column))
      results.push_back(
          getAffineDimExpr(op.getOperandDim(tensor, column), context));
  return AffineMap::get(map.getNumResults(), 0, results, context);
}

Value Tiler::readTile(AttentionOp::Tensor tensor, AttentionOp::Dim row,
                      Value position, VectorType type) {
  AttentionOp::Dim column = tensor == AttentionOp::ValueTensor
                                ? AttentionOp::HeadDimVO
                                : AttentionOp::HeadDimQK;
  int64_t columns = cast<ShapedType>(op.getTensor(tensor).getType())
                        .getDimSize(op.getOperandDim(tensor, column));
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getFloatAttr(element, 0.0));
  return vector::TransferReadOp::create(
      builder, loc, type, op.getTensor(tensor), indicesOf(tensor, position),
      AffineMapAttr::get(permutationOf(tensor, row)), zero, /*mask=*/Value(),
      builder.getBoolArrayAttr({false, columns == type.getDimSize(1)}));
}

/// The interval of keys that each row sees, the same for every tile of keys.
void Tiler::findVisibleKeys() {
  VectorType type = vector({rows}, builder.getIndexType());
  auto band =
      BandOp::create(builder, loc, type, type, firstRow, batch, head, seqlenQ,
                     seqlenK, op.getMaskOperands(), op.getMaskAttr());
  lower = band.getLower();
  upper = band.getUpper();
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

/// Scores of the worker's rows with the tile of keys from `firstKey` on.
Value Tiler::scoresOf(Value firstKey) {
  Value key = readTile(AttentionOp::KeyTensor, AttentionOp::Key, firstKey,
                       vector({keys, inner}, element));
  Value scores = contract(query, key, splat(vector({rows, keys}, softmax), 0.0),
                          /*transposeB=*/true);
  if (op.getSoftcap()) {
    Value scaled = arith::MulFOp::create(
        builder, loc, scores,
        broadcast(inverseCap, cast<VectorType>(scores.getType())));
    scores = math::TanhOp::create(builder, loc, scaled);
  }
  return MaskBandOp::create(builder, loc, scores, firstKey, lower, upper);
}

/// A loop over all tiles of keys, in order, each of which may be partial.
TileLoopOp Tiler::loopOverKeys(ValueRange inits, ArrayRef<CarriedRole> roles) {
  return TileLoopOp::create(builder, loc, LoopAxis::Keys, keys,
                            /*first=*/zero, /*descending=*/false, /*from=*/zero,
                            numKeyTiles, SegmentKind::Partial, inits, roles);
}

/// The first loop: the maximum score of each row.
Value Tiler::findMaximum() {
  Value none = splat(vector({rows}, softmax), -INFINITY);
  TileLoopOp loop = loopOverKeys(none, CarriedRole::Maximum);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value maximum = vector::MultiDimReductionOp::create(
      builder, loc, scoresOf(loop.getPosition()), loop.getRegionIterArgs()[0],
      ArrayRef<bool>{false, true}, vector::CombiningKind::MAXNUMF);
  YieldOp::create(builder, loc, maximum);
  return loop.getResult(0);
}

/// The second loop: the sum of the weights and their product with V.
std::pair<Value, Value> Tiler::sumWeights(Value maximum) {
  Value noWeights = splat(vector({rows}, softmax), 0.0);
  Value noValues = splat(vector({rows, headDimVO}, softmax), 0.0);
  TileLoopOp loop = loopOverKeys({noWeights, noValues},
                                 {CarriedRole::Sum, CarriedRole::Accumulator});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value firstKey = loop.getPosition();
  Value weights = SoftmaxWeightsOp::create(builder, loc, scoresOf(firstKey),
                                           maximum, factor);
  Value sum = vector::MultiDimReductionOp::create(
      builder, loc, weights, loop.getRegionIterArgs()[0],
      ArrayRef<bool>{false, true}, vector::CombiningKind::ADD);
  Value values = readTile(AttentionOp::ValueTensor, AttentionOp::Key, firstKey,
                          vector({keys, headDimVO}, element));
  Value applied = contract(convertFloat(weights, element), values,
                           loop.getRegionIterArgs()[1], /*transposeB=*/false);
  YieldOp::create(builder, loc, ValueRange{sum, applied});
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
      builder, loc, result, op.getOutput(),
      indicesOf(AttentionOp::Output, firstRow),
      AffineMapAttr::get(permutationOf(AttentionOp::Output, AttentionOp::Row)),
      builder.getBoolArrayAttr({false, true}));

  if (!op.getLse())
    return;
  Value log = math::Log2Op::create(builder, loc, sum);
  Value logOfSum =
      arith::MulFOp::create(builder, loc, log, splat(rowType, M_LN2));
  // Not in bits: the largest scores times log2(e) are beyond the type.
  Value natural = math::FmaOp::create(builder, loc, maximum,
                                      broadcast(unit, rowType), logOfSum);
  Value lse = arith::SelectOp::create(builder, loc, isEmpty,
                                      splat(rowType, -INFINITY), natural);
  vector::TransferWriteOp::create(
      builder, loc, lse, op.getLse(), indicesOf(AttentionOp::Lse, firstRow),
      AffineMapAttr::get(permutationOf(AttentionOp::Lse, AttentionOp::Row)),
      builder.getBoolArrayAttr({false}));
}

void Tiler::tileWorker(Value worker) {
  Value offset = arith::MulIOp::create(builder, loc, worker, index(rows));
  firstRow = arith::AddIOp::create(builder, loc, firstRow, offset);
  query = readTile(AttentionOp::Query, AttentionOp::Row, firstRow,
                   vector({rows, inner}, element));
  findVisibleKeys();
  zero = index(0);
  numKeyTiles = arith::CeilDivUIOp::create(builder, loc, seqlenK, index(keys));
  Value maximum = findMaximum();
  auto [sum, accumulator] = sumWeights(maximum);
  writeResults(maximum, sum, accumulator);
}

void Tiler::tile() {
  builder.setInsertionPoint(op);
  seqlenQ = sizeOf(AttentionOp::Row);
  seqlenK = sizeOf(AttentionOp::Key);
  Value log2e = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(softmax, M_LOG2E));
  unit = op.getScale();
  if (Value softcap = op.getSoftcap()) {
    inverseCap = arith::DivFOp::create(builder, loc, op.getScale(), softcap);
    unit = softcap;
  }
  factor = arith::MulFOp::create(builder, loc, unit, log2e);
  // Infinity times a difference of 0 would be NaN.
  APFloat largest =
      APFloat::getLargest(cast<FloatType>(softmax).getFloatSemantics());
  factor = arith::MinNumFOp::create(
      builder, loc, factor,
      arith::ConstantOp::create(builder, loc,
                                FloatAttr::get(softmax, largest)));
  Value numQueryTiles = arith::CeilDivUIOp::create(builder, loc, seqlenQ,
                                                   index(schedule.getRows()));
  auto grid =
      TileGridOp::create(builder, loc,
                         ValueRange{sizeOf(AttentionOp::Batch),
                                    sizeOf(AttentionOp::Head), numQueryTiles},
                         schedule.getWorkers(), schedule);
  builder.setInsertionPointToStart(&grid.getBody().front());
  batch = grid.getBatch();
  head = grid.getHead();
  keyHead =
      arith::DivUIOp::create(builder, loc, head, index(op.getGroupSize()));
  firstRow = arith::MulIOp::create(builder, loc, grid.getTile(),
                                   index(schedule.getRows()));
  tileWorker(grid.getWorker());
  op.erase();
}

/// A group of operands, or a region, that nothing here computes; empty if none.
static StringRef getUnlowered(AttentionOp op) {
  if (op.getBias())
    return "bias";
  if (op.getSinks())
    return "sinks";
  if (!op.getCuSeqlens().empty())
    return "cu_seqlens";
  if (op.getSeqused())
    return "seqused";
  if (!op.getScoreMod().empty())
    return "score_mod";
  return op.getMaskMod().empty() ? "" : "mask_mod";
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
      if (StringRef group = getUnlowered(op); !group.empty()) {
        op.emitOpError() << "expected no " << group << ": not lowered yet";
        return signalPassFailure();
      }
      OpBuilder builder(op);
      Tiler(op, builder).tile();
    }
  }
};

} // namespace
