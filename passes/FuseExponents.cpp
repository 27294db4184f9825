//===- FuseExponents.cpp - attn-fuse-exponents ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// p = exp2((s - r) * c)  ->  isLarge = |r * c| > limit
//                            if (warp_any(isLarge))
//                              s' = s - (isLarge ? r : 0)
//                              z = isLarge ? 0 : r * c
//                            else
//                              s' = s, z = r * c
//                            p = exp2(fma(s', c, -z))
//
// One operation per score instead of two. The fused multiply-add rounds
// s * c - z once, so all weights of a row are exact, but relative to r * c as
// it is rounded: they are off by one factor, 2^e, which the division by their
// sum takes out again. But weights are rounded to 16 bits on the way, and 2^e
// is not 1 where that matters, nor within the range of any type where r is so
// large that e is.
//
// Below the limit |e| is at most 2^-14. A weight of 2^e then rounds to 1, as it
// should, and what is left of e in the result is a fifth of the least that
// could move an f16 to its neighbour. What is relative to r itself, as what
// moves sums from one reference to the next, may therefore meet such weights.
//
// Rows decide for themselves, so that a sum carried from tile to tile has one
// reference as long as r is the same; the warp only asks whether there is
// anything to do.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/RowVectors.h"

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNFUSEEXPONENTSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// 2^11 has bits down to 2^-13 in f32, half of which is e.
static constexpr double kLimit = 2048;

namespace {

/// The weights of a tile, and what is known of them.
struct Tile {
  math::Exp2Op op;
  Weights weights;
};

/// What the fused multiply-add takes.
struct Operands {
  Value scores, shift;
};

} // namespace

static std::optional<Tile> matchTile(math::Exp2Op op) {
  std::optional<Weights> weights = Weights::match(op);
  if (!weights || cast<VectorType>(op.getType()).getRank() != 2)
    return std::nullopt;
  return Tile{op, *weights};
}

/// What remains of the scores, and what is to be added to their products with
/// the factor.
static Operands createOperands(OpBuilder &builder, Tile &tile) {
  Location loc = tile.op.getLoc();
  auto [scores, reference, factor] = tile.weights;
  auto type = cast<VectorType>(reference.getType());
  Value product = arith::MulFOp::create(
      builder, loc, reference,
      vector::BroadcastOp::create(builder, loc, type, factor));
  Value isLarge =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT,
                            math::AbsFOp::create(builder, loc, product),
                            createSplat(builder, loc, type, kLimit));
  Value any =
      attn_gpu::WarpAnyOp::create(builder, loc, builder.getI1Type(), isLarge);
  auto branch =
      scf::IfOp::create(builder, loc, TypeRange{scores.getType(), type}, any,
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, ValueRange{scores, product});
  builder.setInsertionPointToEnd(branch.thenBlock());
  Value zero = createSplat(builder, loc, type, 0.0);
  Value subtrahend =
      arith::SelectOp::create(builder, loc, isLarge, reference, zero);
  Value remaining = arith::SubFOp::create(
      builder, loc, scores,
      broadcastRowLike(builder, loc, subtrahend, scores.getType()));
  Value taken = arith::SelectOp::create(builder, loc, isLarge, zero, product);
  scf::YieldOp::create(builder, loc, ValueRange{remaining, taken});
  builder.setInsertionPointAfter(branch);
  Value shift = arith::NegFOp::create(builder, loc, branch.getResult(1));
  return {branch.getResult(0), shift};
}

static void fuse(Tile &tile) {
  OpBuilder builder(tile.op);
  Location loc = tile.op.getLoc();
  Type type = tile.op.getType();
  Operands operands = createOperands(builder, tile);
  Value power = math::FmaOp::create(
      builder, loc, operands.scores,
      vector::BroadcastOp::create(builder, loc, type, tile.weights.factor),
      broadcastRowLike(builder, loc, operands.shift, type));
  Operation *product = tile.op.getOperand().getDefiningOp();
  Operation *difference = product->getOperand(0).getDefiningOp();
  tile.op.setOperand(power);
  for (Operation *unused : {product, difference})
    if (unused->use_empty())
      unused->erase();
}

namespace {

struct AttnFuseExponents
    : attn::impl::AttnFuseExponentsPassBase<AttnFuseExponents> {
  void runOnOperation() override {
    SmallVector<Tile> tiles;
    getOperation().walk([&](math::Exp2Op op) {
      if (std::optional<Tile> tile = matchTile(op))
        tiles.push_back(*tile);
    });
    for (Tile &tile : tiles)
      fuse(tile);
  }
};

} // namespace
