//===- RescaleLazily.cpp - attn-rescale-lazily ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m' = max(m, s)                    n = max(m, s)
// rescale sums from m to m'   ->    any = warp_any((n - m) * c > t or
// weights relative to m'                           n is large)
//                                   m' = any ? n : m
//                                   if (any) rescale sums from m to m'
//                                   weights relative to m', large if any
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
#define GEN_PASS_DEF_ATTNRESCALELAZILYPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// What keeps the rescaling of a loop that carries the references from being
/// put off, if anything; `rescale` is set where it is found.
static std::optional<StringRef> match(TileLoopOp loop, RescaleOp &rescale) {
  std::optional<unsigned> maximum = loop.findCarried(CarriedRole::Maximum);
  auto rescalings = llvm::to_vector(loop.getBody()->getOps<RescaleOp>());
  if (!maximum || rescalings.size() != 1)
    return "expected a maximum and one attn.rescale";
  rescale = rescalings.front();
  if (rescale.getFrom() != loop.getRegionIterArgs()[*maximum] ||
      rescale.getTo() != loop.getYield().getOperand(*maximum))
    return "expected sums that go from the maximum before to the one after";
  Operation *decided = rescale.getTo().getDefiningOp();
  if (!decided || decided->getBlock() != loop.getBody() ||
      !decided->isBeforeInBlock(rescale))
    return "expected a maximum that an iteration computes";
  if (!loop.isDefinedOutsideOfLoop(rescale.getFactor()))
    return "expected a factor that the loop does not change";
  return std::nullopt;
}

/// The weights relative to `maximum` that would ask whether it is large.
static SoftmaxWeightsOp findWeights(TileLoopOp loop, Value maximum,
                                    Value factor) {
  for (auto weights : loop.getBody()->getOps<SoftmaxWeightsOp>())
    if (weights.getReference() == maximum && weights.getFactor() == factor &&
        !weights.getLarge())
      return weights;
  return {};
}

/// Decides for the warp and makes everybody use the maximum that it keeps.
static Value createDecision(TileLoopOp loop, RescaleOp rescale,
                            int64_t threshold) {
  OpBuilder builder(rescale.getContext());
  Value fresh = rescale.getTo(), old = rescale.getFrom();
  builder.setInsertionPointAfterValue(fresh);
  Location loc = fresh.getLoc();
  auto type = cast<VectorType>(fresh.getType());
  Value growth = arith::SubFOp::create(builder, loc, fresh, old);
  Value inBits = arith::MulFOp::create(
      builder, loc, growth,
      vector::BroadcastOp::create(builder, loc, type, rescale.getFactor()));
  Value tooMuch =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, inBits,
                            createSplat(builder, loc, type, threshold));
  SoftmaxWeightsOp weights = findWeights(loop, fresh, rescale.getFactor());
  if (weights) {
    // A row that has seen nothing is not large.
    Value isLarge =
        createIsLarge(builder, loc, createReference(builder, loc, fresh),
                      rescale.getFactor());
    tooMuch = arith::OrIOp::create(builder, loc, tooMuch, isLarge);
  }
  Value any =
      attn_gpu::WarpAnyOp::create(builder, loc, builder.getI1Type(), tooMuch);
  auto kept = arith::SelectOp::create(builder, loc, any, fresh, old);
  // All behind the decision, and what the loop carries.
  fresh.replaceUsesWithIf(kept, [&](OpOperand &use) {
    Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
    return kept->isBeforeInBlock(user);
  });
  if (weights)
    weights.getLargeMutable().assign(any);
  return any;
}

/// Puts the rescaling behind the decision.
static void putUnder(RescaleOp rescale, Value any) {
  OpBuilder builder(rescale);
  Location loc = rescale.getLoc();
  auto branch = scf::IfOp::create(builder, loc, rescale.getResultTypes(), any,
                                  /*withElseRegion=*/true);
  OpBuilder nested = branch.getElseBodyBuilder();
  scf::YieldOp::create(nested, loc, rescale.getSums());
  rescale.replaceAllUsesWith(branch.getResults());
  nested = branch.getThenBodyBuilder();
  rescale->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  nested.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(nested, loc, rescale.getResults());
}

namespace {

struct AttnRescaleLazily
    : attn::impl::AttnRescaleLazilyPassBase<AttnRescaleLazily> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (!schedule || schedule.getRescaleThreshold() == 0)
      return;
    getOperation().walk([&](TileLoopOp loop) {
      if (!loop.findCarried(CarriedRole::Accumulator))
        return;
      RescaleOp rescale;
      if (std::optional<StringRef> reason = match(loop, rescale))
        loop.emitRemark("not rescaled lazily: ") << *reason;
      else
        putUnder(rescale,
                 createDecision(loop, rescale, schedule.getRescaleThreshold()));
    });
  }
};

} // namespace
