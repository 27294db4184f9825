//===- MaskedKeyLoops.cpp - What masked key loops compute -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/MaskedKeyLoops.h"
#include "passes/RowVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn;

/// The bound behind `bound - broadcast(first key of the tile)`.
static Value getAbsoluteBound(Value relative) {
  auto sub = relative.getDefiningOp<arith::SubIOp>();
  return sub ? sub.getLhs() : Value();
}

/// Finds the two products, and the number of their accumulator.
static bool matchProducts(MaskedKeyLoop &found) {
  for (auto product : found.loop.getBody()->getOps<vector::ContractionOp>()) {
    auto right = product.getRhs().getDefiningOp<vector::TransferReadOp>();
    if (auto query = product.getLhs().getDefiningOp<vector::TransferReadOp>()) {
      found.query = query;
      found.key = right;
    } else {
      found.value = right;
    }
    for (auto [number, yielded] :
         llvm::enumerate(found.loop.getYieldedValues()))
      if (yielded == product.getResult())
        found.accumulator = number;
  }
  return found.query && found.key && found.value;
}

/// Finds which carried values are the maximum and the sum, and the factor.
static bool matchSoftmax(MaskedKeyLoop &found) {
  for (auto op : found.loop.getBody()->getOps<vector::MultiDimReductionOp>()) {
    auto carried = dyn_cast<BlockArgument>(op.getAcc());
    if (op.getKind() == vector::CombiningKind::MAXNUMF && carried)
      found.maximum = carried.getArgNumber() - 1;
  }
  for (auto op : found.loop.getBody()->getOps<math::Exp2Op>())
    if (std::optional<Weights> weights = Weights::match(op))
      if (weights->scores == found.mask.getResult())
        found.factor = weights->factor;
  found.sum = 3 - found.maximum - found.accumulator;
  return found.factor && found.loop.getNumResults() == 3 &&
         found.maximum != found.accumulator;
}

std::optional<MaskedKeyLoop> mlir::attn::matchMaskedKeyLoop(MaskBandOp mask) {
  MaskedKeyLoop found;
  found.mask = mask;
  found.loop = dyn_cast<scf::ForOp>(mask->getParentOp());
  // A lower bound of zero, which hides nothing of any tile, may be a constant.
  found.lower = matchPattern(mask.getLower(), m_Zero())
                    ? mask.getLower()
                    : getAbsoluteBound(mask.getLower());
  found.upper = getAbsoluteBound(mask.getUpper());
  if (!found.loop || !matchPattern(found.loop.getStep(), m_One()) ||
      !found.lower || !found.upper || !matchProducts(found) ||
      !matchSoftmax(found))
    return std::nullopt;
  return found;
}

scf::ForOp mlir::attn::getLastKeyLoop(scf::ForOp loop) {
  for (;;) {
    if (loop->use_empty())
      return loop;
    auto next = dyn_cast<scf::ForOp>(*loop->user_begin());
    if (!next || next->getBlock() != loop->getBlock())
      return loop;
    loop = next;
  }
}

/// Whether `value` has one value per row, or one at all.
static bool isSameInAllColumns(Value value) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.isSplat();
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  auto source = broadcast ? dyn_cast<VectorType>(broadcast.getSourceType())
                          : VectorType();
  return broadcast && (!source || source.getShape().back() == 1);
}

std::optional<AccumulatorOutput>
mlir::attn::matchAccumulatorOutput(Value value) {
  AccumulatorOutput output;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto write = dyn_cast<vector::TransferWriteOp>(user)) {
      AffineMap map = write.getPermutationMap();
      if (write.getMask() || map.getNumResults() != 2 ||
          !map.isProjectedPermutation())
        return std::nullopt;
      output.write = write;
      return output;
    }
    if (!OpTrait::hasElementwiseMappableTraits(user) ||
        user->getNumResults() != 1 ||
        !llvm::all_of(user->getOperands(), [&](Value operand) {
          return operand == value || isSameInAllColumns(operand);
        }))
      return std::nullopt;
    output.ops.push_back(user);
    value = user->getResult(0);
  }
  return std::nullopt;
}

bool MaskedKeyLoop::hidesFromSomeRows() const {
  return !isSameForAllRows(lower) || !isSameForAllRows(upper);
}
