//===- SkipHiddenTiles.cpp - attn-skip-hidden-tiles -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tile_loop from(0) { receive, masked work, release }
//   ->  tile_loop [0, hidden) { receive, release }
//       tile_loop from(hidden) { receive, masked work, release }
//
// A block takes the tiles that its last row sees. The rows of its first worker
// may see none of those that come first: the worker forwards them.
//
//===----------------------------------------------------------------------===//

#include "passes/ForwardSlots.h"
#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSKIPHIDDENTILESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// The band that masks a consumer's loop; null where all rows see the same
/// keys, and so do all workers.
static BandOp getBand(TileLoopOp loop) {
  if (!loop->getParentOfType<attn_gpu::SpecializeOp>() ||
      loop.getAxis() != LoopAxis::Keys || !loop.getDescending())
    return {};
  for (auto mask : loop.getBody()->getOps<MaskBandOp>())
    if (auto band = mask.getUpper().getDefiningOp<BandOp>())
      return band.dependsOnRow() ? band : BandOp();
  return {};
}

/// How many of the first iterations take tiles that no row of the worker sees;
/// fewer than the first segment has, so that its first iteration still masks.
static Value countHidden(OpBuilder &builder, TileLoopOp loop, BandOp band) {
  Location loc = loop.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  int64_t rows = band.getUpper().getType().getDimSize(0);
  Value lastRow =
      arith::AddIOp::create(builder, loc, index(rows - 1), band.getFirst());
  Value upper = band.buildUpper(builder, lastRow);
  Value zero = index(0), one = index(1);
  Value visible = arith::CeilDivUIOp::create(
      builder, loc, arith::MaxSIOp::create(builder, loc, upper, zero),
      index(loop.getStep()));
  Value all = arith::AddIOp::create(builder, loc, loop.getFirst(), one);
  Value hidden = arith::SubIOp::create(builder, loc, all, visible);
  Value most = arith::SubIOp::create(builder, loc, loop.getEnds().front(), one);
  Value bounded = arith::MinSIOp::create(builder, loc, hidden, most);
  return arith::MaxSIOp::create(builder, loc, bounded, zero);
}

namespace {

struct AttnSkipHiddenTiles
    : attn::impl::AttnSkipHiddenTilesPassBase<AttnSkipHiddenTiles> {
  void runOnOperation() override {
    SmallVector<std::pair<TileLoopOp, BandOp>> loops;
    getOperation().walk([&](TileLoopOp loop) {
      BandOp band = getBand(loop);
      if (!band)
        return;
      if (canForwardSlots(loop))
        loops.push_back({loop, band});
      else
        loop.emitRemark("hidden tiles are computed: expected slots that follow "
                        "from the iteration");
    });
    for (auto [loop, band] : loops) {
      OpBuilder builder(loop);
      Value hidden = countHidden(builder, loop, band);
      forwardSlots(builder, loop, loop.getFrom(), hidden);
      loop.getFromMutable().assign(hidden);
    }
  }
};

} // namespace
