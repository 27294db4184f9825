//===- GuardHiddenValues.cpp - attn-guard-hidden-values -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key that one row of a tile sees and another does not has weight 0 in the
// other row, and 0 * NaN and 0 * inf are NaN: a matrix product lets what a row
// must not see reach it. So, behind the loops:
//
//   if (any accumulator is not finite where the sum of weights is a number)
//     for key j { a[r] += visible(r, j) ? p[r][j] * v[j] : nothing }
//     acc[r] = a[r] for those rows
//
// which goes key by key, on vector units, and touches only visible values. It
// runs for inputs with NaN or infinity in V and costs everybody else one
// multiply-add per accumulator and query tile.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/RowVectors.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNGUARDHIDDENVALUESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Columns of Q that the recomputation multiplies at a time: few, for it runs
/// where all registers are taken.
static constexpr int64_t kChunk = 16;

namespace {

/// What a masked key loop computes, and what from.
struct MaskedLoop {
  scf::ForOp loop;
  MaskBandOp mask;
  vector::TransferReadOp query, key, value;
  /// Bounds in keys, one per row.
  Value lower, upper;
  /// Factor of the scores in the exponent.
  Value factor;
  unsigned maximum = 0, sum = 0, accumulator = 0;
};

/// Writes the recomputation behind the loops.
class Guard {
public:
  Guard(MaskedLoop &found, scf::ForOp last)
      : found(found), last(last), builder(last.getContext()),
        loc(last.getLoc()), f32(builder.getF32Type()),
        accumulatorType(
            cast<VectorType>(last.getResult(found.accumulator).getType())),
        rows(accumulatorType.getDimSize(0)) {}

  void build();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  VectorType rowType(Type element) { return VectorType::get({rows}, element); }
  Value splat(VectorType type, double value) {
    return createSplat(builder, loc, type, value);
  }
  Value broadcast(Value value, VectorType type) {
    return vector::BroadcastOp::create(builder, loc, type, value);
  }
  /// One value per row, for each column of the accumulators.
  Value overColumns(Value row) {
    return broadcastRows(builder, loc, row, accumulatorType.getDimSize(1));
  }
  Value read(vector::TransferReadOp like, Value position, Value column,
             int64_t numRows, int64_t numColumns);
  Value sumZeros();
  Value scoreOf(Value key);
  Value addKey(Value key, Value accumulator, Value shift, Value isHurt);
  Value recompute(Value perLane);

  MaskedLoop &found;
  scf::ForOp last;
  OpBuilder builder;
  Location loc;
  Type f32;
  VectorType accumulatorType;
  int64_t rows;
};

} // namespace

/// `numRows` x `numColumns` elements in f32 from where `like` reads, with its
/// row and its column replaced by these.
Value Guard::read(vector::TransferReadOp like, Value position, Value column,
                  int64_t numRows, int64_t numColumns) {
  AffineMap map = like.getPermutationMap();
  SmallVector<Value> indices(like.getIndices());
  indices[cast<AffineDimExpr>(map.getResult(0)).getPosition()] = position;
  indices[cast<AffineDimExpr>(map.getResult(1)).getPosition()] = column;
  auto type = VectorType::get({numRows, numColumns},
                              like.getVectorType().getElementType());
  // A single row is a key, which the loop keeps inside; columns stay inside
  // wherever those of the tile do.
  Value values = vector::TransferReadOp::create(
      builder, loc, type, like.getBase(), indices, AffineMapAttr::get(map),
      like.getPadding(), /*mask=*/Value(),
      builder.getBoolArrayAttr({numRows == 1, like.getInBoundsValues()[1]}));
  return arith::ExtFOp::create(builder, loc, type.clone(f32), values);
}

/// Per row, the accumulators times zero, added up: NaN if one of them is not
/// finite, else 0. Each lane has the sum of its own columns.
Value Guard::sumZeros() {
  Value zeros =
      arith::MulFOp::create(builder, loc, last.getResult(found.accumulator),
                            splat(accumulatorType, 0.0));
  auto perLane = vector::MultiDimReductionOp::create(
      builder, loc, zeros, splat(rowType(f32), 0.0),
      ArrayRef<bool>{false, true}, vector::CombiningKind::ADD);
  perLane->setAttr(attn_gpu::kPartialAttr, builder.getUnitAttr());
  return perLane;
}

/// The scores of all rows with one key.
Value Guard::scoreOf(Value key) {
  auto chunkType = VectorType::get({rows, kChunk}, f32);
  vector::TransferReadOp query = found.query;
  unsigned row =
      cast<AffineDimExpr>(query.getPermutationMap().getResult(0)).getPosition();
  auto loop = scf::ForOp::create(
      builder, loc, index(0), index(query.getVectorType().getDimSize(1)),
      index(kChunk), ValueRange{splat(chunkType, 0.0)});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value column = loop.getInductionVar();
    Value q = read(query, query.getIndices()[row], column, rows, kChunk);
    Value k = read(found.key, key, column, 1, kChunk);
    Value products = math::FmaOp::create(
        builder, loc, q, broadcast(k, chunkType), loop.getRegionIterArg(0));
    scf::YieldOp::create(builder, loc, products);
  }
  return vector::MultiDimReductionOp::create(
      builder, loc, loop.getResult(0), splat(rowType(f32), 0.0),
      ArrayRef<bool>{false, true}, vector::CombiningKind::ADD);
}

/// accumulator + weight * value, for the hurt rows that see `key`.
Value Guard::addKey(Value key, Value accumulator, Value shift, Value isHurt) {
  Value power = math::FmaOp::create(
      builder, loc, scoreOf(key), broadcast(found.factor, rowType(f32)), shift);
  Value weight = math::Exp2Op::create(builder, loc, power);
  Value value =
      read(found.value, key, index(0), 1, accumulatorType.getDimSize(1));
  Value sum =
      math::FmaOp::create(builder, loc, overColumns(weight),
                          broadcast(value, accumulatorType), accumulator);
  Value position = broadcast(key, rowType(builder.getIndexType()));
  Value notBefore = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sle, found.lower, position);
  Value notAfter = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, position, found.upper);
  Value isVisible = arith::AndIOp::create(builder, loc, notBefore, notAfter);
  Value isWanted = arith::AndIOp::create(builder, loc, isVisible, isHurt);
  return arith::SelectOp::create(builder, loc, overColumns(isWanted), sum,
                                 accumulator);
}

/// The accumulators, with those of hurt rows computed anew. They take the place
/// of the old ones: there are no registers for both.
Value Guard::recompute(Value perLane) {
  vector::TransferReadOp key = found.key;
  unsigned keyDim =
      cast<AffineDimExpr>(key.getPermutationMap().getResult(0)).getPosition();
  Value numKeys = memref::DimOp::create(builder, loc, key.getBase(), keyDim);
  Value shift =
      createShift(builder, loc, last.getResult(found.maximum), found.factor);
  Value whole = attn_gpu::RowSumOp::create(builder, loc, rowType(f32), perLane);
  Value isHurt = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                       whole, whole);
  Value start = arith::SelectOp::create(builder, loc, overColumns(isHurt),
                                        splat(accumulatorType, 0.0),
                                        last.getResult(found.accumulator));
  auto loop = scf::ForOp::create(builder, loc, index(0), numKeys, index(1),
                                 ValueRange{start});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(
      builder, loc,
      addKey(loop.getInductionVar(), loop.getRegionIterArg(0), shift, isHurt));
  return loop.getResult(0);
}

void Guard::build() {
  builder.setInsertionPointAfter(last);
  Value accumulator = last.getResult(found.accumulator);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : accumulator.getUses())
    uses.push_back(&use);

  Value perLane = sumZeros();
  Value notFinite = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::UNO, perLane, perLane);
  // All of a row's lanes must agree: a NaN among the weights is in one of them.
  Value sum = attn_gpu::RowSumOp::create(builder, loc, rowType(f32),
                                         last.getResult(found.sum));
  Value isNumber =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, sum, sum);
  Value hurt = arith::AndIOp::create(builder, loc, notFinite, isNumber);
  Value any =
      attn_gpu::WarpAnyOp::create(builder, loc, builder.getI1Type(), hurt);
  auto guard = scf::IfOp::create(builder, loc, accumulatorType, any,
                                 /*withElseRegion=*/true);
  builder.setInsertionPointToEnd(&guard.getElseRegion().front());
  scf::YieldOp::create(builder, loc, accumulator);
  builder.setInsertionPointToEnd(&guard.getThenRegion().front());
  scf::YieldOp::create(builder, loc, recompute(perLane));
  for (OpOperand *use : uses)
    use->set(guard.getResult(0));
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The bound behind `bound - broadcast(first key of the tile)`.
static Value getAbsoluteBound(Value relative) {
  if (auto sub = relative.getDefiningOp<arith::SubIOp>())
    return sub.getLhs();
  // A constant that hides nothing of any tile.
  return matchPattern(relative, m_Zero()) ? relative : Value();
}

/// Finds the two products, and the number of their accumulator.
static bool matchProducts(MaskedLoop &found) {
  for (auto product : found.loop.getBody()->getOps<vector::ContractionOp>()) {
    auto right = product.getRhs().getDefiningOp<vector::TransferReadOp>();
    if (auto query = product.getLhs().getDefiningOp<vector::TransferReadOp>()) {
      found.query = query;
      found.key = right;
    } else {
      found.value = right;
    }
    for (auto [number, yielded] :
         llvm::enumerate(found.loop.getYieldedValues()))
      if (yielded == product.getResult())
        found.accumulator = number;
  }
  return found.query && found.key && found.value;
}

/// Finds which carried values are the maximum and the sum, and the factor.
static bool matchSoftmax(MaskedLoop &found) {
  for (auto op : found.loop.getBody()->getOps<vector::MultiDimReductionOp>()) {
    auto carried = dyn_cast<BlockArgument>(op.getAcc());
    if (op.getKind() == vector::CombiningKind::MAXNUMF && carried)
      found.maximum = carried.getArgNumber() - 1;
  }
  for (auto power : found.loop.getBody()->getOps<math::FmaOp>())
    if (power.getA() == found.mask.getResult())
      if (auto factor = power.getB().getDefiningOp<vector::BroadcastOp>())
        found.factor = factor.getSource();
  found.sum = 3 - found.maximum - found.accumulator;
  return found.factor && found.loop.getNumResults() == 3 &&
         found.maximum != found.accumulator;
}

static std::optional<MaskedLoop> matchLoop(MaskBandOp mask) {
  MaskedLoop found;
  found.mask = mask;
  found.loop = dyn_cast<scf::ForOp>(mask->getParentOp());
  found.lower = getAbsoluteBound(mask.getLower());
  found.upper = getAbsoluteBound(mask.getUpper());
  if (!found.loop || !found.lower || !found.upper || !matchProducts(found) ||
      !matchSoftmax(found))
    return std::nullopt;
  return found;
}

/// The loop that the chain which `loop` belongs to ends with.
static scf::ForOp getLastLoop(scf::ForOp loop) {
  for (;;) {
    if (loop->use_empty())
      return loop;
    auto next = dyn_cast<scf::ForOp>(*loop->user_begin());
    if (!next || next->getBlock() != loop->getBlock())
      return loop;
    loop = next;
  }
}

/// Whether all rows of a tile see the same keys.
static bool hidesNothing(MaskedLoop &found) {
  auto isUniform = [](Value bound) {
    return bound.getDefiningOp<vector::BroadcastOp>() ||
           bound.getDefiningOp<arith::ConstantOp>();
  };
  return isUniform(found.lower) && isUniform(found.upper);
}

namespace {

struct AttnGuardHiddenValues
    : attn::impl::AttnGuardHiddenValuesPassBase<AttnGuardHiddenValues> {
  void runOnOperation() override {
    // One guard per chain of loops, whichever of its loops were masked.
    llvm::MapVector<Operation *, MaskedLoop> chains;
    getOperation().walk([&](MaskBandOp mask) {
      std::optional<MaskedLoop> found = matchLoop(mask);
      if (found && !hidesNothing(*found))
        chains.insert({getLastLoop(found->loop), *found});
    });
    for (auto &[last, found] : chains)
      Guard(found, cast<scf::ForOp>(last)).build();
  }
};

} // namespace
