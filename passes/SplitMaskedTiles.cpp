//===- SplitMaskedTiles.cpp - attn-split-masked-tiles ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tile_loop first(0) segments(partial %all)
//   ->  tile_loop first(%last) descending
//           segments(partial %upper, full %inner, partial %lower)
//
// The band of the mask is asked for its ends in the first and in the last row
// of a tile of the grid. Both ends do not decrease, so from
//
//   lower(first row)  lower(last row)  upper(first row)  upper(last row)
//
// follow the tiles that any row needs, and between the middle two those that
// all rows see whole. Tiles that nobody sees are in no segment. No knowledge of
// any particular mask is needed.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Rematerialize.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSPLITMASKEDTILESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// A loop over all keys, and the band that says what is visible.
struct MaskedLoop {
  TileLoopOp loop;
  BandOp band;
  TileGridOp grid;
};

/// Scalar arithmetic that folds what it can.
struct IndexBuilder {
  OpBuilder &builder;
  Location loc;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value sub(Value a, Value b) {
    return builder.createOrFold<arith::SubIOp>(loc, a, b);
  }
  Value add(Value a, Value b) {
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  }
  Value min(Value a, Value b) {
    return builder.createOrFold<arith::MinSIOp>(loc, a, b);
  }
  Value max(Value a, Value b) {
    return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
  }
  /// Tiles of `step` that hold the keys before `key`: whole ones, or all. An
  /// end below 0 means that nothing is visible.
  Value wholeTiles(Value key, int64_t step) {
    return arith::DivUIOp::create(builder, loc, max(key, index(0)),
                                  index(step));
  }
  Value allTiles(Value key, int64_t step) {
    return arith::CeilDivUIOp::create(builder, loc, max(key, index(0)),
                                      index(step));
  }
};

/// The ends of the segments, and the tile of the first iteration.
struct Segments {
  Value first;
  SmallVector<Value> ends;
  SmallVector<SegmentKind> kinds;
};

/// Writes the segments of one loop in front of it.
class SegmentBuilder {
public:
  explicit SegmentBuilder(MaskedLoop &found)
      : found(found), builder(found.band), loc(found.loop.getLoc()),
        math{builder, loc}, step(found.loop.getStep()) {}

  Segments build();

private:
  Value rowOfGrid(int64_t worker, int64_t row);

  MaskedLoop &found;
  OpBuilder builder;
  Location loc;
  IndexBuilder math;
  int64_t step;
};

} // namespace

/// The row that a worker of the tile at hand has as number `row`.
Value SegmentBuilder::rowOfGrid(int64_t worker, int64_t row) {
  IRMapping mapping;
  mapping.map(found.grid.getWorker(), math.index(worker));
  Value first = rematerialize(builder, found.band.getFirst(),
                              &found.grid.getBody().front(), mapping);
  return math.add(first, math.index(row));
}

Segments SegmentBuilder::build() {
  int64_t rows = found.band.getLower().getType().getDimSize(0);
  int64_t workers = found.grid.getWorkers();
  Value lastRow = rowOfGrid(workers - 1, rows - 1);
  Value upperOfLast = found.band.buildUpper(builder, lastRow);
  Value firstRow = lastRow, upperOfFirst = upperOfLast;
  if (found.band.dependsOnRow()) {
    firstRow = rowOfGrid(0, 0);
    upperOfFirst = found.band.buildUpper(builder, firstRow);
  }

  Value one = math.index(1);
  Value endTile = math.allTiles(upperOfLast, step);
  Segments segments;
  // The tile of iteration i is `first - i`.
  segments.first = math.sub(endTile, one);
  Value beginTile = math.index(0);
  Value lowerOfFirst = found.band.buildLower(builder, firstRow);
  if (lowerOfFirst)
    beginTile = math.min(math.wholeTiles(lowerOfFirst, step), endTile);
  Value end = math.sub(endTile, beginTile);

  // The first iteration masks, even where its tile is full, so that a pipeline
  // has one kind of prologue. Where all rows end at one key, no other does.
  Value partial = one;
  if (upperOfFirst != upperOfLast)
    partial =
        math.max(math.sub(endTile, math.wholeTiles(upperOfFirst, step)), one);
  segments.ends = {math.min(partial, end), end};
  segments.kinds = {upperOfFirst != upperOfLast ? SegmentKind::Partial
                                                : SegmentKind::Tail,
                    SegmentKind::Full};
  if (lowerOfFirst) {
    Value lowerOfLast = found.band.buildLower(builder, lastRow);
    Value full = math.sub(endTile, math.allTiles(lowerOfLast, step));
    segments.ends[1] = math.max(math.min(full, end), segments.ends[0]);
    segments.ends.push_back(end);
    segments.kinds.push_back(SegmentKind::Partial);
  }
  return segments;
}

/// Finds the band of a loop that takes all keys in order; says what is in the
/// way, if anything.
static std::optional<StringRef> match(MaskedLoop &found) {
  TileLoopOp loop = found.loop;
  for (auto mask : loop.getBody()->getOps<MaskBandOp>()) {
    auto band = mask.getUpper().getDefiningOp<BandOp>();
    if (!band || band.getUpper() != mask.getUpper() ||
        band.getLower() != mask.getLower() ||
        (found.band && band != found.band))
      return "expected bounds of one attn.band";
    found.band = band;
  }
  if (loop.getAxis() != LoopAxis::Keys || loop.getDescending() ||
      loop.getSegmentKinds() !=
          SmallVector<SegmentKind>{SegmentKind::Partial} ||
      !matchPattern(loop.getFirst(), m_Zero()) ||
      !matchPattern(loop.getFrom(), m_Zero()))
    return "expected a loop over all keys in one segment";
  found.grid = dyn_cast<TileGridOp>(found.band->getParentOp());
  IRMapping mapping;
  if (!found.grid)
    return "expected a band in a grid of tiles";
  for (BlockArgument argument : found.grid.getBody().getArguments())
    mapping.map(argument, argument);
  if (!canRematerialize(found.band.getFirst(), &found.grid.getBody().front(),
                        mapping))
    return "expected rows that follow from the tile and the worker";
  return std::nullopt;
}

static void split(MaskedLoop &found) {
  TileLoopOp old = found.loop;
  Segments segments = SegmentBuilder(found).build();
  OpBuilder builder(old);
  auto loop = TileLoopOp::create(
      builder, old.getLoc(), old.getAxis(), old.getStep(), segments.first,
      /*descending=*/true, old.getFrom(), segments.ends, segments.kinds,
      old.getInits(), old.getCarriedRoles());
  loop.getRegion().takeBody(old.getRegion());
  old.replaceAllUsesWith(loop.getResults());
  old.erase();
}

namespace {

struct AttnSplitMaskedTiles
    : attn::impl::AttnSplitMaskedTilesPassBase<AttnSplitMaskedTiles> {
  void runOnOperation() override {
    SmallVector<MaskedLoop> loops;
    getOperation().walk([&](TileLoopOp loop) {
      if (!loop.getBody()->getOps<MaskBandOp>().empty())
        loops.push_back({loop, BandOp(), TileGridOp()});
    });
    for (MaskedLoop &found : loops) {
      if (std::optional<StringRef> reason = match(found))
        found.loop.emitRemark("key tiles are not split: ") << *reason;
      else
        split(found);
    }
  }
};

} // namespace
