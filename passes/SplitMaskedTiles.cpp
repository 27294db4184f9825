//===- SplitMaskedTiles.cpp - attn-split-masked-tiles ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for j in [0, n)  ->  for the partial tiles at the upper end, last tile first
//                      for the full tiles, without attn.mask_band
//                      for the partial tiles at the lower end, if there is one
//
// What is known of a mask are the bounds of `attn.mask_band` as functions of
// the row. The pass evaluates them, as scalars, for the first and the last row
// of the query tile; since they do not decrease from row to row, these two rows
// bound all others. No knowledge of any particular mask is needed.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/RowEvaluator.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSPLITMASKEDTILESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// The key loop of a worker and the interval it masks with.
struct KeyLoop {
  scf::ForOp loop;
  MaskBandOp mask;
  /// Bounds in keys, not relative to a tile.
  Value lower, upper;
};

/// Trip counts of the loops, as positions in the order of visits.
struct Ranges {
  Value lastTile;
  /// End of the partial tiles at the upper end, of the full ones, and of all.
  Value upperEnd, fullEnd, end;
};

} // namespace

/// The bound behind `bound - broadcast(first key of the tile)`.
static Value getAbsoluteBound(Value relative, scf::ForOp loop) {
  auto sub = relative.getDefiningOp<arith::SubIOp>();
  return sub && loop.isDefinedOutsideOfLoop(sub.getLhs()) ? sub.getLhs()
                                                          : Value();
}

static std::optional<KeyLoop> matchKeyLoop(MaskBandOp mask) {
  auto loop = dyn_cast<scf::ForOp>(mask->getParentOp());
  if (!loop || !llvm::hasSingleElement(loop.getBody()->getOps<MaskBandOp>()) ||
      !matchPattern(loop.getLowerBound(), m_Zero()) ||
      !matchPattern(loop.getStep(), m_One()))
    return std::nullopt;
  Value lower = getAbsoluteBound(mask.getLower(), loop);
  Value upper = getAbsoluteBound(mask.getUpper(), loop);
  if (!lower || !upper)
    return std::nullopt;
  return KeyLoop{loop, mask, lower, upper};
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Computes the ranges in front of the worker loop, or nothing where a bound
/// cannot be evaluated.
static std::optional<Ranges> buildRanges(OpBuilder &builder, Location loc,
                                         KeyLoop &keyLoop,
                                         scf::ForallOp workers,
                                         int64_t numWorkers, bool hasLower) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  VectorType scores = keyLoop.mask.getScores().getType();
  int64_t rows = scores.getDimSize(0), numKeys = scores.getDimSize(1);
  Value keys = index(numKeys), zero = index(0), one = index(1);
  Value firstRow = zero, lastRow = index(rows * numWorkers - 1);
  RowEvaluator first(builder, loc, workers, rows, firstRow);
  RowEvaluator last(builder, loc, workers, rows, lastRow);

  // An end below 0 means that nothing is visible.
  auto positive = [&](Value value) -> Value {
    return arith::MaxSIOp::create(builder, loc, value, zero);
  };
  Value upperOfLast = last.evaluate(keyLoop.upper);
  Value upperOfFirst = first.evaluate(keyLoop.upper);
  if (!upperOfLast || !upperOfFirst)
    return std::nullopt;
  Value endTile =
      arith::CeilDivUIOp::create(builder, loc, positive(upperOfLast), keys);
  Value lastTile = arith::SubIOp::create(builder, loc, endTile, one);

  Value beginTile = zero, fullBeginTile = zero;
  if (hasLower) {
    Value lowerOfFirst = first.evaluate(keyLoop.lower);
    Value lowerOfLast = last.evaluate(keyLoop.lower);
    if (!lowerOfFirst || !lowerOfLast)
      return std::nullopt;
    Value begin =
        arith::DivUIOp::create(builder, loc, positive(lowerOfFirst), keys);
    beginTile = arith::MinSIOp::create(builder, loc, begin, endTile);
    fullBeginTile =
        arith::CeilDivUIOp::create(builder, loc, positive(lowerOfLast), keys);
  }

  // Tile j is visited as number lastTile - j. The first visit is partial, even
  // where its tile is full, so that a pipeline has one kind of first tile.
  Value end = arith::SubIOp::create(builder, loc, endTile, beginTile);
  // Where all rows end at one key, no other tile is partial.
  Value partial = one;
  if (upperOfFirst != upperOfLast) {
    Value fullEndTile =
        arith::DivUIOp::create(builder, loc, positive(upperOfFirst), keys);
    partial = arith::MaxSIOp::create(
        builder, loc, arith::SubIOp::create(builder, loc, endTile, fullEndTile),
        one);
  }
  Value upperEnd = arith::MinSIOp::create(builder, loc, partial, end);
  Value fullEnd = end;
  if (hasLower) {
    Value full = arith::SubIOp::create(builder, loc, endTile, fullBeginTile);
    Value clamped = arith::MinSIOp::create(builder, loc, full, end);
    fullEnd = arith::MaxSIOp::create(builder, loc, clamped, upperEnd);
  }
  return Ranges{lastTile, upperEnd, fullEnd, end};
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// Erases what a loop body computes for nothing, last op first.
static void eraseDeadOps(scf::ForOp loop) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

static bool isAtMostZero(Value bound) {
  DenseElementsAttr constant;
  return matchPattern(bound, m_Constant(&constant)) && constant.isSplat() &&
         !constant.getSplatValue<APInt>().isStrictlyPositive();
}

/// A copy of the key loop over visits [from, to), with or without its compare.
static scf::ForOp cloneLoop(OpBuilder &builder, KeyLoop &keyLoop,
                            Value lastTile, Value from, Value to,
                            ValueRange inits, bool masked) {
  scf::ForOp old = keyLoop.loop;
  auto loop =
      scf::ForOp::create(builder, old.getLoc(), from, to, old.getStep(), inits);
  loop->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  mapping.map(old.getRegionIterArgs(), loop.getRegionIterArgs());
  mapping.map(old.getInductionVar(),
              arith::SubIOp::create(builder, old.getLoc(), lastTile,
                                    loop.getInductionVar())
                  .getResult());
  for (Operation &op : old.getBody()->without_terminator()) {
    if (!masked && &op == keyLoop.mask.getOperation()) {
      mapping.map(keyLoop.mask.getResult(),
                  mapping.lookup(keyLoop.mask.getScores()));
      continue;
    }
    Operation *copy = builder.clone(op, mapping);
    // No key comes before the first, so nothing is to be compared.
    if (&op == keyLoop.mask.getOperation() && isAtMostZero(keyLoop.lower))
      cast<MaskBandOp>(copy).getLowerMutable().assign(keyLoop.lower);
  }
  SmallVector<Value> yielded;
  for (Value value : old.getYieldedValues())
    yielded.push_back(mapping.lookupOrDefault(value));
  scf::YieldOp::create(builder, old.getLoc(), yielded);
  eraseDeadOps(loop);
  return loop;
}

static LogicalResult split(KeyLoop &keyLoop) {
  auto workers = keyLoop.loop->getParentOfType<scf::ForallOp>();
  if (!workers || workers.getRank() != 1)
    return failure();
  std::optional<int64_t> numWorkers =
      getConstantIntValue(workers.getMixedUpperBound().front());
  if (!numWorkers)
    return failure();
  bool hasLower = !matchPattern(keyLoop.lower, m_Zero());

  Location loc = keyLoop.loop.getLoc();
  OpBuilder builder(workers);
  Operation *before = workers->getPrevNode();
  std::optional<Ranges> ranges =
      buildRanges(builder, loc, keyLoop, workers, *numWorkers, hasLower);
  if (!ranges) {
    while (workers->getPrevNode() != before)
      workers->getPrevNode()->erase();
    return failure();
  }

  builder.setInsertionPoint(keyLoop.loop);
  scf::ForOp old = keyLoop.loop;
  scf::ForOp loop =
      cloneLoop(builder, keyLoop, ranges->lastTile, old.getLowerBound(),
                ranges->upperEnd, old.getInitArgs(), /*masked=*/true);
  loop = cloneLoop(builder, keyLoop, ranges->lastTile, ranges->upperEnd,
                   ranges->fullEnd, loop.getResults(), /*masked=*/false);
  if (hasLower)
    loop = cloneLoop(builder, keyLoop, ranges->lastTile, ranges->fullEnd,
                     ranges->end, loop.getResults(), /*masked=*/true);
  old.replaceAllUsesWith(loop.getResults());
  old.erase();
  return success();
}

namespace {

struct AttnSplitMaskedTiles
    : attn::impl::AttnSplitMaskedTilesPassBase<AttnSplitMaskedTiles> {
  void runOnOperation() override {
    SmallVector<KeyLoop> loops;
    getOperation().walk([&](MaskBandOp mask) {
      if (std::optional<KeyLoop> loop = matchKeyLoop(mask))
        loops.push_back(*loop);
    });
    for (KeyLoop &loop : loops)
      if (failed(split(loop)))
        loop.mask->emitRemark("key tiles are not split: a bound of the mask is "
                              "no function of the row");
  }
};

} // namespace
