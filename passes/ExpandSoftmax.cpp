//===- ExpandSoftmax.cpp - attn-expand-softmax ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.softmax_weights s, m, c  ->  exp2(fma(s, c, -(m * c)))
// attn.rescale a, m, n, c       ->  a * exp2(fma(m, c, -(n * c)))
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/RowVectors.h"

#include "dialect/attn/AttnDialect.h"

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

/// `row`, one value per row, in the shape of `like`.
static Value broadcastRowsLike(OpBuilder &builder, Location loc, Value row,
                               VectorType like) {
  return like.getRank() == 1
             ? row
             : broadcastRows(builder, loc, row, like.getDimSize(1));
}

static void expand(SoftmaxWeightsOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<VectorType>(op.getType());
  Value shift = createShift(builder, loc, op.getReference(), op.getFactor());
  Value factor =
      vector::BroadcastOp::create(builder, loc, type, op.getFactor());
  Value power =
      math::FmaOp::create(builder, loc, op.getScores(), factor,
                          broadcastRowsLike(builder, loc, shift, type));
  op.replaceAllUsesWith(math::Exp2Op::create(builder, loc, power).getResult());
  op.erase();
}

/// The sums were summed up under from * factor as it is rounded. With that,
/// rather than the exact product, all keys of a row have one reference in the
/// end; the difference of large scores is otherwise off by half a unit of their
/// last place, which 16-bit weights hide.
static void expand(RescaleOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  // In front of a branch around it, where the weights need the same shift.
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  if (branch && branch->getBlock() == op.getTo().getParentBlock())
    builder.setInsertionPoint(branch);
  Value shift = createShift(builder, loc, op.getTo(), op.getFactor());
  builder.setInsertionPoint(op);
  Value factor = vector::BroadcastOp::create(
      builder, loc, op.getFrom().getType(), op.getFactor());
  Value power;
  if (op.getExact()) {
    Value reference = arith::MulFOp::create(builder, loc, op.getFrom(), factor);
    power = arith::AddFOp::create(builder, loc, reference, shift);
  } else {
    power = math::FmaOp::create(builder, loc, op.getFrom(), factor, shift);
  }
  Value scale = math::Exp2Op::create(builder, loc, power);
  for (auto [sum, result] : llvm::zip(op.getSums(), op.getResults()))
    result.replaceAllUsesWith(arith::MulFOp::create(
        builder, loc, sum,
        broadcastRowsLike(builder, loc, scale,
                          cast<VectorType>(sum.getType()))));
  op.erase();
}

namespace {

struct AttnExpandSoftmax
    : attn::impl::AttnExpandSoftmaxPassBase<AttnExpandSoftmax> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto weights = dyn_cast<SoftmaxWeightsOp>(op))
        expand(weights);
      else if (auto rescale = dyn_cast<RescaleOp>(op))
        expand(rescale);
    });
  }
};

} // namespace
