//===- FuseOnlineSoftmax.cpp - attn-fuse-online-softmax -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m = for { max(m, s(i)) }                   m, a = for {
// r = g(m)                                     m' = max(m, s(i))
// a = for { a + f(s(i), r) * v(i) }    ->      r = g(m')
//                                              a * f(m, r) + f(s(i), r) * v(i)
//                                            }
//
// with f(s, r) = exp2((s - r) * c). Multiplying by f(m, r) moves what was
// summed under the old maximum m to the new one, because f(s, g(m)) * f(m, r)
// is f(s, r) wherever g(m) = m; and where m is still -inf it is 0, as is the
// sum.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/RowVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNFUSEONLINESOFTMAXPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// A pair of loops that can be fused, and what was found in them.
struct Match {
  scf::ForOp maximumLoop, sumLoop;
  /// Scores as each loop computes them.
  Value maximumScores, sumScores;
  /// exp2((scores - reference) * factor) in the sum loop.
  math::Exp2Op weights;
  Value reference;
  Value factor;
  /// The ops between the loops that depend on the maximum, in order.
  SmallVector<Operation *> between;
};

} // namespace

/// Whether `a` in one loop and `b` in another are the same function of their
/// loops' induction variables.
static bool areEquivalent(Value a, Value b, Match &match) {
  if (a == b)
    return true;
  if (a == match.maximumLoop.getInductionVar() &&
      b == match.sumLoop.getInductionVar())
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || first->getName() != second->getName() ||
      first->getNumRegions() != 0 ||
      first->getAttrDictionary() != second->getAttrDictionary() ||
      first->getResultTypes() != second->getResultTypes() ||
      first->getNumOperands() != second->getNumOperands() ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber())
    return false;
  return llvm::all_of(
      llvm::zip(first->getOperands(), second->getOperands()), [&](auto pair) {
        return areEquivalent(std::get<0>(pair), std::get<1>(pair), match);
      });
}

/// Matches `for { m = max(m, scores) }` from -inf on.
static bool matchMaximumLoop(scf::ForOp loop, Match &match) {
  if (loop.getNumResults() != 1)
    return false;
  Value yielded = loop.getYieldedValues().front();
  auto reduction = yielded.getDefiningOp<vector::MultiDimReductionOp>();
  if (!reduction || reduction.getKind() != vector::CombiningKind::MAXNUMF ||
      reduction.getAcc() != loop.getRegionIterArg(0) ||
      !matchPattern(loop.getInitArgs().front(), m_NegInfFloat()) ||
      !loop.getRegionIterArg(0).hasOneUse())
    return false;
  match.maximumLoop = loop;
  match.maximumScores = reduction.getSource();
  return true;
}

/// Whether `value` is `maximum`, or that with 0 in place of -inf.
static bool isMaximum(Value value, Value maximum) {
  if (value == maximum)
    return true;
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto isEmpty = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                        : arith::CmpFOp();
  return isEmpty && isEmpty.getPredicate() == arith::CmpFPredicate::OEQ &&
         isEmpty.getLhs() == maximum &&
         matchPattern(isEmpty.getRhs(), m_NegInfFloat()) &&
         matchPattern(select.getTrueValue(), m_AnyZeroFloat()) &&
         select.getFalseValue() == maximum;
}

/// Matches the weights of the sum loop and what they are made of. What moves a
/// sum from one maximum to the next is derived from their being relative to it.
static bool matchWeights(Match &match) {
  for (auto op : match.sumLoop.getBody()->getOps<math::Exp2Op>()) {
    std::optional<Weights> weights = Weights::match(op);
    if (!weights || !areEquivalent(match.maximumScores, weights->scores, match))
      continue;
    match.weights = op;
    match.sumScores = weights->scores;
    match.reference = weights->reference;
    match.factor = weights->factor;
    return isMaximum(match.reference, match.maximumLoop.getResult(0)) &&
           match.sumLoop.isDefinedOutsideOfLoop(match.reference) &&
           match.sumLoop.isDefinedOutsideOfLoop(match.factor);
  }
  return false;
}

/// Whether `argument` of the sum loop is only ever summed up, from 0 on: the
/// accumulator of a row sum of the weights, or of a product with them.
static bool isLinearInWeights(BlockArgument argument, Value yielded,
                              Match &match) {
  if (!argument.hasOneUse() ||
      *argument.user_begin() != yielded.getDefiningOp() ||
      !matchPattern(match.sumLoop.getTiedLoopInit(argument)->get(),
                    m_AnyZeroFloat()))
    return false;
  auto isWeights = [&](Value value) {
    if (auto rounded = value.getDefiningOp<arith::TruncFOp>())
      value = rounded.getIn();
    return value == match.weights.getResult();
  };
  if (auto sum = yielded.getDefiningOp<vector::MultiDimReductionOp>())
    return sum.getKind() == vector::CombiningKind::ADD &&
           sum.getAcc() == argument && isWeights(sum.getSource());
  if (auto product = yielded.getDefiningOp<vector::ContractionOp>())
    return product.getAcc() == argument && isWeights(product.getLhs());
  return false;
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
/// same, and what is not summed up can go.
static bool areReadOnly(scf::ForOp maximumLoop, scf::ForOp sumLoop) {
  for (Operation *op = maximumLoop; op != sumLoop; op = op->getNextNode())
    if (!isReadOnly(op))
      return false;
  return isReadOnly(sumLoop);
}

/// Collects the ops between the loops that depend on the maximum. They must
/// be movable into the loop and unused elsewhere.
static bool collectBetween(Match &match) {
  llvm::SetVector<Operation *> dependent;
  for (Operation *op = match.maximumLoop->getNextNode();
       op != match.sumLoop.getOperation(); op = op->getNextNode()) {
    auto isDependent = [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return def == match.maximumLoop || dependent.contains(def);
    };
    bool depends = op->walk([&](Operation *nested) {
                       return WalkResult(failure(
                           llvm::any_of(nested->getOperands(), isDependent)));
                     }).wasInterrupted();
    if (!depends)
      continue;
    if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
      return false;
    dependent.insert(op);
  }
  auto inside = [&](Operation *user) {
    return dependent.contains(user) || match.sumLoop->isProperAncestor(user);
  };
  for (Operation *op : dependent)
    if (!llvm::all_of(op->getUsers(), inside))
      return false;
  match.between.assign(dependent.begin(), dependent.end());
  return true;
}

static std::optional<Match> matchLoops(scf::ForOp maximumLoop,
                                       scf::ForOp sumLoop) {
  Match match;
  match.sumLoop = sumLoop;
  if (!matchMaximumLoop(maximumLoop, match) ||
      maximumLoop->getBlock() != sumLoop->getBlock() ||
      !maximumLoop->isBeforeInBlock(sumLoop) ||
      !areReadOnly(maximumLoop, sumLoop))
    return std::nullopt;
  auto sameBound = [&](Value a, Value b) { return areEquivalent(a, b, match); };
  if (!sameBound(maximumLoop.getLowerBound(), sumLoop.getLowerBound()) ||
      !sameBound(maximumLoop.getUpperBound(), sumLoop.getUpperBound()) ||
      !sameBound(maximumLoop.getStep(), sumLoop.getStep()) ||
      !matchWeights(match) || !collectBetween(match))
    return std::nullopt;
  for (auto [argument, yielded] :
       llvm::zip(sumLoop.getRegionIterArgs(), sumLoop.getYieldedValues()))
    if (!isLinearInWeights(argument, yielded, match))
      return std::nullopt;
  return match;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// Clones what `value` is computed from within `scope`, as far as `mapping`
/// does not have it yet.
static Value cloneValue(OpBuilder &builder, Value value, Block *scope,
                        IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != scope)
    return value;
  for (Value operand : op->getOperands())
    cloneValue(builder, operand, scope, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// The accumulation `yielded` of the sum loop, on top of `rescaled`.
static Value buildSum(OpBuilder &builder, Location loc, Value yielded,
                      Value rescaled, Block *scope, IRMapping &mapping) {
  if (auto sum = yielded.getDefiningOp<vector::MultiDimReductionOp>()) {
    // The row sum of the tile stays apart from what was carried, so that it
    // need not wait for the rescaling.
    Value weights = cloneValue(builder, sum.getSource(), scope, mapping);
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(rescaled.getType()));
    Value part = vector::MultiDimReductionOp::create(
        builder, loc, weights, zero, sum.getReductionMask(), sum.getKind());
    return arith::AddFOp::create(builder, loc, rescaled, part);
  }
  auto product = yielded.getDefiningOp<vector::ContractionOp>();
  mapping.map(product.getAcc(), rescaled);
  return cloneValue(builder, yielded, scope, mapping);
}

static void fuse(Match &match) {
  scf::ForOp maximumLoop = match.maximumLoop, sumLoop = match.sumLoop;
  OpBuilder builder(sumLoop);
  Location loc = sumLoop.getLoc();
  SmallVector<Value> inits = {maximumLoop.getInitArgs().front()};
  llvm::append_range(inits, sumLoop.getInitArgs());
  auto fused =
      scf::ForOp::create(builder, loc, sumLoop.getLowerBound(),
                         sumLoop.getUpperBound(), sumLoop.getStep(), inits);
  fused->setDiscardableAttrs(sumLoop->getDiscardableAttrDictionary());
  builder.setInsertionPointToStart(fused.getBody());

  IRMapping mapping;
  Value oldMaximum = fused.getRegionIterArg(0);
  mapping.map(maximumLoop.getInductionVar(), fused.getInductionVar());
  mapping.map(maximumLoop.getRegionIterArg(0), oldMaximum);
  Value newMaximum = cloneValue(builder, maximumLoop.getYieldedValues().front(),
                                maximumLoop.getBody(), mapping);
  mapping.map(match.sumScores, mapping.lookup(match.maximumScores));
  mapping.map(maximumLoop.getResult(0), newMaximum);
  for (Operation *op : match.between)
    builder.clone(*op, mapping);
  // What the sums so far must be multiplied by.
  Value rescale = Weights{oldMaximum, mapping.lookupOrDefault(match.reference),
                          match.factor}
                      .create(builder, loc);

  mapping.map(sumLoop.getInductionVar(), fused.getInductionVar());
  SmallVector<Value> results = {newMaximum};
  for (auto [carried, yielded] :
       llvm::zip(fused.getRegionIterArgs().drop_front(),
                 sumLoop.getYieldedValues())) {
    Value rescaled = arith::MulFOp::create(
        builder, loc, carried,
        broadcastRowLike(builder, loc, rescale, carried.getType()));
    results.push_back(
        buildSum(builder, loc, yielded, rescaled, sumLoop.getBody(), mapping));
  }
  scf::YieldOp::create(builder, loc, results);

  sumLoop.replaceAllUsesWith(fused.getResults().drop_front());
  sumLoop.erase();
  for (Operation *op : llvm::reverse(match.between))
    op->erase();
  maximumLoop.getResult(0).replaceAllUsesWith(fused.getResult(0));
  maximumLoop.erase();
}

namespace {

struct AttnFuseOnlineSoftmax
    : attn::impl::AttnFuseOnlineSoftmaxPassBase<AttnFuseOnlineSoftmax> {
  void runOnOperation() override {
    SmallVector<Match> matches;
    getOperation().walk([&](scf::ForOp maximumLoop) {
      for (Operation *op = maximumLoop->getNextNode(); op;
           op = op->getNextNode()) {
        auto sumLoop = dyn_cast<scf::ForOp>(op);
        if (!sumLoop)
          continue;
        if (std::optional<Match> match = matchLoops(maximumLoop, sumLoop)) {
          matches.push_back(*match);
          return;
        }
      }
    });
    for (Match &match : matches)
      fuse(match);
  }
};

} // namespace
