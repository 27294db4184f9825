//===- FuseOnlineSoftmax.cpp - attn-fuse-online-softmax -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m = for { max(m, s(i)) }              m, a = for {
// a = for { a + f(s(i), m) * v(i) } ->    m' = max(m, s(i))
//                                         rescale(a, m, m') + f(s(i), m') *
//                                         v(i)
//                                       }
//
// with f(s, m) = exp2((s - m) * c), the softmax weights. Multiplying by f(m,
// m') moves what was summed up relative to the old maximum m to the new one,
// because f(s, m) * f(m, m') is f(s, m'); and where m is still -inf nothing was
// summed up.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Rematerialize.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNFUSEONLINESOFTMAXPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// A pair of loops that can be fused.
struct LoopPair {
  TileLoopOp maximumLoop, sumLoop;
  /// Scores as the first loop computes them.
  Value scores;
  /// The weights of the second loop.
  SoftmaxWeightsOp weights;
};

} // namespace

/// The scores of which `loop` finds the maximum of each row, from -inf on; null
/// if it does something else.
static Value getMaximumScores(TileLoopOp loop) {
  if (loop.getCarriedRoles() != SmallVector<CarriedRole>{CarriedRole::Maximum})
    return {};
  BlockArgument carried = loop.getRegionIterArgs()[0];
  auto reduction = loop.getYield()
                       .getOperand(0)
                       .getDefiningOp<vector::MultiDimReductionOp>();
  if (!reduction || reduction.getKind() != vector::CombiningKind::MAXNUMF ||
      reduction.getAcc() != carried || !carried.hasOneUse() ||
      !matchPattern(loop.getInits().front(), m_NegInfFloat()))
    return {};
  return reduction.getSource();
}

/// Whether both loops take the same tiles in the same order.
static bool haveSameTiles(TileLoopOp a, TileLoopOp b) {
  return a.getAxis() == b.getAxis() && a.getStep() == b.getStep() &&
         a.getFirst() == b.getFirst() && a.getFrom() == b.getFrom() &&
         a.getDescending() == b.getDescending() &&
         a.getKinds() == b.getKinds() && llvm::equal(a.getEnds(), b.getEnds());
}

/// Whether all that the second loop carries is a sum of weights, or of a
/// product with them, from 0 on.
static bool sumsWeightsAlone(LoopPair &pair) {
  auto isWeights = [&](Value value) {
    if (auto rounded = value.getDefiningOp<arith::TruncFOp>())
      value = rounded.getIn();
    return value == pair.weights.getResult();
  };
  TileLoopOp loop = pair.sumLoop;
  return llvm::all_of(
      llvm::zip(loop.getRegionIterArgs(), loop.getInits(),
                loop.getYield().getOperands()),
      [&](auto carried) {
        auto [argument, init, yielded] = carried;
        if (!argument.hasOneUse() || !matchPattern(init, m_AnyZeroFloat()))
          return false;
        if (auto sum =
                yielded.template getDefiningOp<vector::MultiDimReductionOp>())
          return sum.getKind() == vector::CombiningKind::ADD &&
                 sum.getAcc() == argument && isWeights(sum.getSource());
        auto product = yielded.template getDefiningOp<vector::ContractionOp>();
        return product && product.getAcc() == argument &&
               isWeights(product.getLhs());
      });
}

/// Whether `op` only computes and reads.
static bool isReadOnly(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  return effects && llvm::all_of(*effects, [](const auto &effect) {
           return isa<MemoryEffects::Read>(effect.getEffect());
         });
}

/// Whether nothing from the first loop to the second writes: both then read the
/// same.
static bool areReadOnly(TileLoopOp maximumLoop, TileLoopOp sumLoop) {
  for (Operation *op = maximumLoop; op != sumLoop; op = op->getNextNode())
    if (!isReadOnly(op))
      return false;
  return isReadOnly(sumLoop);
}

/// Completes `pair`, of which the loop of the maximum and the weights are
/// known; says what is in the way, if anything.
static std::optional<StringRef> matchPair(LoopPair &pair) {
  TileLoopOp first = pair.maximumLoop, second = pair.sumLoop;
  pair.scores = getMaximumScores(first);
  if (!pair.scores)
    return "expected a reference that is the maximum of each row";
  if (first->getBlock() != second->getBlock() || !haveSameTiles(first, second))
    return "expected both loops to take the same tiles";
  auto isSameInput = [&](Value a, Value b) {
    return a == b ||
           (a == first.getIteration() && b == second.getIteration()) ||
           (a == first.getPosition() && b == second.getPosition());
  };
  if (!isSameFunction(pair.scores, pair.weights.getScores(), isSameInput))
    return "expected the maximum of the scores that are weighted";
  if (!sumsWeightsAlone(pair))
    return "expected sums of weights, or of a product with them, from 0 on";
  if (!second.isDefinedOutsideOfLoop(pair.weights.getFactor()))
    return "expected a factor that the loop does not change";
  if (!areReadOnly(first, second))
    return "expected nothing to be written from the first loop on";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// Whether a product takes the weights as they are. They are then as exact as
/// the softmax itself, and rounding the reference must not show.
static bool hasExactWeights(LoopPair &pair) {
  return llvm::any_of(pair.weights->getUsers(),
                      llvm::IsaPred<vector::ContractionOp>);
}

/// The sum `yielded` of the second loop, on top of `rescaled`.
static Value buildSum(OpBuilder &builder, Value yielded, Value rescaled,
                      Block *scope, IRMapping &mapping) {
  if (auto sum = yielded.getDefiningOp<vector::MultiDimReductionOp>()) {
    // The row sum of the tile stays apart from what was carried, so that it
    // need not wait for the rescaling.
    Location loc = sum.getLoc();
    Value weights = rematerialize(builder, sum.getSource(), scope, mapping);
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(rescaled.getType()));
    Value part = vector::MultiDimReductionOp::create(
        builder, loc, weights, zero, sum.getReductionMask(), sum.getKind());
    return arith::AddFOp::create(builder, loc, rescaled, part);
  }
  auto product = yielded.getDefiningOp<vector::ContractionOp>();
  mapping.map(product.getAcc(), rescaled);
  return rematerialize(builder, yielded, scope, mapping);
}

static void fuse(LoopPair &pair) {
  TileLoopOp first = pair.maximumLoop, second = pair.sumLoop;
  OpBuilder builder(second);
  Location loc = second.getLoc();
  SmallVector<Value> inits(first.getInits());
  llvm::append_range(inits, second.getInits());
  SmallVector<CarriedRole> roles = first.getCarriedRoles();
  llvm::append_range(roles, second.getCarriedRoles());
  auto fused = TileLoopOp::create(
      builder, loc, second.getAxis(), second.getStep(), second.getFirst(),
      second.getDescending(), second.getFrom(), second.getEnds(),
      second.getSegmentKinds(), inits, roles);
  builder.setInsertionPointToStart(fused.getBody());

  IRMapping mapping;
  Value oldMaximum = fused.getRegionIterArgs()[0];
  mapping.map(first.getIteration(), fused.getIteration());
  mapping.map(first.getPosition(), fused.getPosition());
  mapping.map(first.getRegionIterArgs()[0], oldMaximum);
  Value newMaximum = rematerialize(builder, first.getYield().getOperand(0),
                                   first.getBody(), mapping);
  auto rescaled = RescaleOp::create(
      builder, loc, second.getResultTypes(),
      ValueRange(fused.getRegionIterArgs().drop_front()), oldMaximum,
      newMaximum, pair.weights.getFactor(), hasExactWeights(pair));

  mapping.map(second.getIteration(), fused.getIteration());
  mapping.map(second.getPosition(), fused.getPosition());
  mapping.map(first.getResult(0), newMaximum);
  mapping.map(pair.weights.getScores(),
              mapping.lookupOrDefault(pair.scores));
  SmallVector<Value> yielded = {newMaximum};
  for (auto [value, sum] :
       llvm::zip(second.getYield().getOperands(), rescaled.getResults()))
    yielded.push_back(buildSum(builder, value, sum, second.getBody(), mapping));
  YieldOp::create(builder, loc, yielded);

  second.replaceAllUsesWith(fused.getResults().drop_front());
  second.erase();
  first.replaceAllUsesWith(fused.getResults().take_front());
  first.erase();
}

namespace {

struct AttnFuseOnlineSoftmax
    : attn::impl::AttnFuseOnlineSoftmaxPassBase<AttnFuseOnlineSoftmax> {
  void runOnOperation() override {
    SmallVector<TileLoopOp> loops;
    getOperation().walk([&](TileLoopOp loop) { loops.push_back(loop); });
    for (TileLoopOp loop : loops) {
      auto weights =
          llvm::to_vector(loop.getBody()->getOps<SoftmaxWeightsOp>());
      auto maximumLoop =
          weights.size() == 1
              ? weights.front().getReference().getDefiningOp<TileLoopOp>()
              : TileLoopOp();
      if (!maximumLoop)
        continue;
      LoopPair pair{maximumLoop, loop, Value(), weights.front()};
      if (std::optional<StringRef> reason = matchPair(pair))
        loop.emitRemark("not fused: ") << *reason;
      else
        fuse(pair);
    }
  }
};

} // namespace
