//===- ExpandSoftmax.cpp - attn-expand-softmax ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.rescale a, m, n, c       ->  a * exp2((m - n) * c)
// attn.softmax_weights s, r, c  ->  exp2((s - r) * c)
//
// or, to spend one operation per score instead of two,
//
//                                   isLarge = |r| > limit / c
//                                   if (warp_any(isLarge))
//                                     s' = s - (isLarge ? r : 0)
//                                     r' = isLarge ? 0 : r
//                                   else
//                                     s' = s, r' = r
//                                   exp2(fma(s', c, -(r' * c)))
//
// The difference comes first: it is exact near the maximum and no product can
// overflow that matters, so a score equal to the reference has weight 1,
// however large both are.
//
// The fused multiply-add rounds s * c - r * c once, so all weights of a row are
// exact, but relative to r * c as it is rounded: they are off by one factor,
// 2^e, which the division by their sum takes out again. But weights are rounded
// to 16 bits on the way, and 2^e is not 1 where that matters, nor within the
// range of any type where r is so large that e is. Below the limit |e| is at
// most 2^-14. A weight of 2^e then rounds to 1, as it should, and what is left
// of e in the result is a fifth of the least that could move an f16 to its
// neighbour. What is relative to r itself, as what moves sums from one
// reference to the next, may therefore meet such weights.
//
// Rows decide for themselves, so that a sum carried from tile to tile has one
// reference as long as r is the same; the warp only asks whether there is
// anything to do. Where it has asked before whether a maximum grew, the answer
// covers this too (`large`), and most iterations do nothing for it.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/RowVectors.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNEXPANDSOFTMAXPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// exp2((scores - reference) * factor), of a tile or of one value per row.
static Value createWeights(OpBuilder &builder, Location loc, Value scores,
                           Value reference, Value factor) {
  Type type = scores.getType();
  Value difference = arith::SubFOp::create(
      builder, loc, scores, broadcastRowLike(builder, loc, reference, type));
  Value power = arith::MulFOp::create(
      builder, loc, difference,
      vector::BroadcastOp::create(builder, loc, type, factor));
  return math::Exp2Op::create(builder, loc, power);
}

namespace {

/// What the fused multiply-add is formed from.
struct Operands {
  Value scores, reference;
};

} // namespace

/// Asks the warp for large references, and takes those off the scores.
static Operands takeLargeReferences(OpBuilder &builder, Location loc,
                                    Value scores, Value reference,
                                    Value factor) {
  auto type = cast<VectorType>(reference.getType());
  Value isLarge = createIsLarge(builder, loc, reference, factor);
  Value any =
      attn_gpu::WarpAnyOp::create(builder, loc, builder.getI1Type(), isLarge);
  auto branch =
      scf::IfOp::create(builder, loc, TypeRange{scores.getType(), type}, any,
                        /*withElseRegion=*/true);
  OpBuilder nested = branch.getElseBodyBuilder();
  scf::YieldOp::create(nested, loc, ValueRange{scores, reference});
  nested = branch.getThenBodyBuilder();
  Value zero = createSplat(nested, loc, type, 0.0);
  Value subtrahend =
      arith::SelectOp::create(nested, loc, isLarge, reference, zero);
  Value remaining = arith::SubFOp::create(
      nested, loc, scores,
      broadcastRowLike(nested, loc, subtrahend, scores.getType()));
  Value rest = arith::SelectOp::create(nested, loc, isLarge, zero, reference);
  scf::YieldOp::create(nested, loc, ValueRange{remaining, rest});
  return {branch.getResult(0), branch.getResult(1)};
}

/// The same, but where it is known that no reference is large.
static Operands createOperands(OpBuilder &builder, SoftmaxWeightsOp op,
                               Value reference) {
  Location loc = op.getLoc();
  Value scores = op.getScores(), factor = op.getFactor();
  if (!op.getLarge())
    return takeLargeReferences(builder, loc, scores, reference, factor);
  auto branch = scf::IfOp::create(
      builder, loc, TypeRange{scores.getType(), reference.getType()},
      op.getLarge(), /*withElseRegion=*/true);
  OpBuilder nested = branch.getElseBodyBuilder();
  scf::YieldOp::create(nested, loc, ValueRange{scores, reference});
  nested = branch.getThenBodyBuilder();
  Operands tested = takeLargeReferences(nested, loc, scores, reference, factor);
  scf::YieldOp::create(nested, loc,
                       ValueRange{tested.scores, tested.reference});
  return {branch.getResult(0), branch.getResult(1)};
}

static Value createFusedWeights(OpBuilder &builder, SoftmaxWeightsOp op,
                                Value reference) {
  Location loc = op.getLoc();
  Type type = op.getScores().getType();
  Operands operands = createOperands(builder, op, reference);
  Value product = arith::MulFOp::create(
      builder, loc, operands.reference,
      vector::BroadcastOp::create(builder, loc, reference.getType(),
                                  op.getFactor()));
  Value shift = arith::NegFOp::create(builder, loc, product);
  Value power = math::FmaOp::create(
      builder, loc, operands.scores,
      vector::BroadcastOp::create(builder, loc, type, op.getFactor()),
      broadcastRowLike(builder, loc, shift, type));
  return math::Exp2Op::create(builder, loc, power);
}

static void expand(SoftmaxWeightsOp op, bool fuse) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value reference = createReference(builder, loc, op.getReference());
  bool isTile = cast<VectorType>(op.getType()).getRank() == 2;
  op.replaceAllUsesWith(fuse && isTile
                            ? createFusedWeights(builder, op, reference)
                            : createWeights(builder, loc, op.getScores(),
                                            reference, op.getFactor()));
  op.erase();
}

static void expand(RescaleOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value to = createReference(builder, loc, op.getTo());
  Value scale = createWeights(builder, loc, op.getFrom(), to, op.getFactor());
  for (auto [sum, result] : llvm::zip(op.getSums(), op.getResults()))
    result.replaceAllUsesWith(arith::MulFOp::create(
        builder, loc, sum,
        broadcastRowLike(builder, loc, scale, sum.getType())));
  op.erase();
}

namespace {

struct AttnExpandSoftmax
    : attn::impl::AttnExpandSoftmaxPassBase<AttnExpandSoftmax> {
  using AttnExpandSoftmaxPassBase::AttnExpandSoftmaxPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (auto weights = dyn_cast<SoftmaxWeightsOp>(op))
        expand(weights, fuseExponents);
      else if (auto rescale = dyn_cast<RescaleOp>(op))
        expand(rescale);
    });
  }
};

} // namespace
