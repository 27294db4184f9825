//===- RescaleLazily.cpp - attn-rescale-lazily ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m' = max(m, s)                   n = max(m, s)
// a = exp2((m - m') * c)           any = warp_any((n - m) * c > t)
// sums * a                   ->    m' = any ? n : m
//                                  if (any) sums * exp2((m - m') * c)
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
#include "mlir/IR/IRMapping.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNRESCALELAZILYPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// The rescaling of one iteration of an online softmax.
struct Rescaling {
  vector::MultiDimReductionOp newMaximum;
  BlockArgument oldMaximum;
  /// exp2((oldMaximum - reference) * factor), and the products with it.
  math::Exp2Op scale;
  Weights weights;
  SmallVector<arith::MulFOp> products;
  /// The ops that stretch the scale over columns.
  SmallVector<Operation *> broadcasts;
};

} // namespace

/// Collects the products with `value` or a broadcast of it. The other factor
/// must be there before the decision.
static bool collectProducts(Value value, Rescaling &found) {
  for (Operation *user : value.getUsers()) {
    if (auto product = dyn_cast<arith::MulFOp>(user)) {
      Value sum =
          product.getLhs() == value ? product.getRhs() : product.getLhs();
      if (!isa<BlockArgument>(sum) ||
          product->getBlock() != found.scale->getBlock())
        return false;
      found.products.push_back(product);
      continue;
    }
    if (!isa<vector::ShapeCastOp, vector::BroadcastOp>(user))
      return false;
    found.broadcasts.push_back(user);
    if (!collectProducts(user->getResult(0), found))
      return false;
  }
  return true;
}

static std::optional<Rescaling> matchRescaling(scf::ForOp loop) {
  Rescaling found;
  for (auto op : loop.getBody()->getOps<vector::MultiDimReductionOp>()) {
    auto old = dyn_cast<BlockArgument>(op.getAcc());
    if (op.getKind() == vector::CombiningKind::MAXNUMF && old &&
        old.getOwner() == loop.getBody()) {
      found.newMaximum = op;
      found.oldMaximum = old;
    }
  }
  if (!found.newMaximum)
    return std::nullopt;
  for (auto op : loop.getBody()->getOps<math::Exp2Op>()) {
    std::optional<Weights> weights = Weights::match(op);
    // The warp decides before anything of this iteration is known.
    if (!weights || weights->scores != found.oldMaximum ||
        !loop.isDefinedOutsideOfLoop(weights->factor))
      continue;
    found.scale = op;
    found.weights = *weights;
    found.products.clear();
    found.broadcasts.clear();
    if (collectProducts(op.getResult(), found) && !found.products.empty())
      return found;
  }
  return std::nullopt;
}

/// Decides for the warp and makes everybody use the maximum that it keeps.
static Value createDecision(Rescaling &found, int64_t threshold) {
  vector::MultiDimReductionOp maximum = found.newMaximum;
  OpBuilder builder(maximum->getContext());
  builder.setInsertionPointAfter(maximum);
  Location loc = maximum.getLoc();
  Value fresh = maximum.getResult();
  Value growth = arith::SubFOp::create(builder, loc, fresh, found.oldMaximum);
  Value factor = vector::BroadcastOp::create(builder, loc, fresh.getType(),
                                             found.weights.factor);
  Value inBits = arith::MulFOp::create(builder, loc, growth, factor);
  Value tooMuch = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OGT, inBits,
      createSplat(builder, loc, cast<VectorType>(fresh.getType()), threshold));
  Value any =
      attn_gpu::WarpAnyOp::create(builder, loc, builder.getI1Type(), tooMuch);
  auto kept =
      arith::SelectOp::create(builder, loc, any, fresh, found.oldMaximum);
  fresh.replaceUsesWithIf(kept, [&](OpOperand &use) {
    return use.getOwner() != growth.getDefiningOp() && use.getOwner() != kept;
  });
  return any;
}

/// Puts the products behind the decision.
static void guardProducts(Rescaling &found, Value any) {
  OpBuilder builder(found.scale);
  Location loc = found.scale.getLoc();
  SmallVector<Value> sums;
  SmallVector<Type> types;
  for (arith::MulFOp product : found.products) {
    Value left = product.getLhs();
    sums.push_back(isa<BlockArgument>(left) ? left : product.getRhs());
    types.push_back(product.getType());
  }
  auto guard = scf::IfOp::create(builder, loc, types, any,
                                 /*withElseRegion=*/true);
  builder.setInsertionPointToEnd(&guard.getElseRegion().front());
  scf::YieldOp::create(builder, loc, sums);
  builder.setInsertionPointToEnd(&guard.getThenRegion().front());
  IRMapping mapping;
  mapping.map(found.scale.getResult(), found.weights.create(builder, loc));
  for (Operation *op : found.broadcasts)
    builder.clone(*op, mapping);
  SmallVector<Value> scaled;
  for (arith::MulFOp product : found.products)
    scaled.push_back(builder.clone(*product, mapping)->getResult(0));
  scf::YieldOp::create(builder, loc, scaled);

  for (auto [product, result] : llvm::zip(found.products, guard.getResults())) {
    product.replaceAllUsesWith(result);
    product.erase();
  }
  for (Operation *op : llvm::reverse(found.broadcasts))
    op->erase();
  // Nothing of its power is left to compute for everybody either.
  Operation *power = found.scale.getOperand().getDefiningOp();
  Operation *difference = power->getOperand(0).getDefiningOp();
  found.scale.erase();
  for (Operation *op : {power, difference})
    if (op->use_empty())
      op->erase();
}

namespace {

struct AttnRescaleLazily
    : attn::impl::AttnRescaleLazilyPassBase<AttnRescaleLazily> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (!schedule || schedule.getRescaleThreshold() == 0)
      return;
    SmallVector<Rescaling> rescalings;
    getOperation().walk([&](scf::ForOp loop) {
      if (std::optional<Rescaling> found = matchRescaling(loop))
        rescalings.push_back(*found);
    });
    for (Rescaling &found : rescalings)
      guardProducts(found,
                    createDecision(found, schedule.getRescaleThreshold()));
  }
};

} // namespace
