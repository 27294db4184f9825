//===- SkipHiddenTiles.cpp - attn-skip-hidden-tiles -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for i in [0, n) { receive, masked work, release }
//   ->  for i in [0, hidden) { receive, release }
//       for i in [hidden, n) { receive, masked work, release }
//
// A block visits what its last row sees. Its first worker's rows may see none
// of the first tiles visited: the worker hands those on untouched.
//
//===----------------------------------------------------------------------===//

#include "passes/HandOn.h"
#include "passes/Passes.h"
#include "passes/RowEvaluator.h"
#include "passes/RowVectors.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSKIPHIDDENTILESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// The first loop of a consumer over key tiles, with its mask.
struct FirstLoop {
  scf::ForOp loop;
  MaskBandOp mask;
  /// End of the visible keys of each row, and the tile visited first.
  Value upper, lastTile;
};

} // namespace

/// Matches `bound - broadcast((lastTile - i) * keys)`.
static bool matchBound(FirstLoop &found) {
  scf::ForOp loop = found.loop;
  auto relative = found.mask.getUpper().getDefiningOp<arith::SubIOp>();
  auto base = relative ? relative.getRhs().getDefiningOp<vector::BroadcastOp>()
                       : vector::BroadcastOp();
  auto firstKey =
      base ? base.getSource().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  auto tile = firstKey ? firstKey.getLhs().getDefiningOp<arith::SubIOp>()
                       : arith::SubIOp();
  if (!tile || tile.getRhs() != loop.getInductionVar() ||
      getConstantIntValue(firstKey.getRhs()) !=
          found.mask.getScores().getType().getDimSize(1) ||
      !loop.isDefinedOutsideOfLoop(tile.getLhs()) ||
      !loop.isDefinedOutsideOfLoop(relative.getLhs()))
    return false;
  found.upper = relative.getLhs();
  found.lastTile = tile.getLhs();
  return true;
}

static std::optional<FirstLoop> matchFirstLoop(MaskBandOp mask) {
  FirstLoop found;
  found.mask = mask;
  found.loop = dyn_cast<scf::ForOp>(mask->getParentOp());
  if (!found.loop || !mask->getParentOfType<attn_gpu::SpecializeOp>() ||
      !matchPattern(found.loop.getLowerBound(), m_Zero()) ||
      !matchPattern(found.loop.getStep(), m_One()) || !matchBound(found))
    return std::nullopt;
  return found;
}

/// How many of the tiles visited first no row of the worker sees; fewer than
/// the loop visits, so that its chain still has a first tile. Null where the
/// bound is no function of the row.
static Value countHidden(OpBuilder &builder, FirstLoop &found) {
  Location loc = found.loop.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  VectorType scores = found.mask.getScores().getType();
  RowEvaluator last(builder, loc, index(scores.getDimSize(0) - 1));
  Value upper = last.evaluate(found.upper);
  if (!upper)
    return {};
  Value zero = index(0), one = index(1);
  Value visible = arith::CeilDivUIOp::create(
      builder, loc, arith::MaxSIOp::create(builder, loc, upper, zero),
      index(scores.getDimSize(1)));
  Value all = arith::AddIOp::create(builder, loc, found.lastTile, one);
  Value hidden = arith::SubIOp::create(builder, loc, all, visible);
  Value most =
      arith::SubIOp::create(builder, loc, found.loop.getUpperBound(), one);
  Value bounded = arith::MinSIOp::create(builder, loc, hidden, most);
  return arith::MaxSIOp::create(builder, loc, bounded, zero);
}

namespace {

struct AttnSkipHiddenTiles
    : attn::impl::AttnSkipHiddenTilesPassBase<AttnSkipHiddenTiles> {
  void runOnOperation() override {
    SmallVector<FirstLoop> loops;
    getOperation().walk([&](MaskBandOp mask) {
      std::optional<FirstLoop> found = matchFirstLoop(mask);
      // Where all rows see the same, all workers do.
      if (found && !isSameForAllRows(found->upper) && canHandOn(found->loop))
        loops.push_back(*found);
    });
    for (FirstLoop &found : loops) {
      OpBuilder builder(found.loop);
      Value hidden = countHidden(builder, found);
      if (!hidden)
        continue;
      handOn(builder, found.loop, found.loop.getLowerBound(), hidden);
      found.loop.setLowerBound(hidden);
    }
  }
};

} // namespace
