//===- DeferRowSums.cpp - attn-defer-row-sums -----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for { l = l * a + sum(p) }; use(l)
//   ->  for { l = l * a + sum(p) {attn_gpu.partial} }; use(attn_gpu.row_sum l)
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNDEFERROWSUMSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Follows the values that would become partial, from the reductions on.
class PartialSums {
public:
  explicit PartialSums(ArrayRef<vector::MultiDimReductionOp> reductions) {
    for (vector::MultiDimReductionOp op : reductions)
      add(op.getResult());
    for (size_t i = 0; i < values.size(); ++i)
      for (OpOperand &use : values[i].getUses())
        follow(use);
  }

  /// Whether everything summed up is partial, and only whole values leave.
  bool isConsistent() const;
  /// Uses that need the whole sum.
  ArrayRef<OpOperand *> getSinks() const { return sinks; }

private:
  void add(Value value) { values.insert(value); }
  void follow(OpOperand &use);
  bool isPartialOrZero(Value value) const {
    return values.contains(value) || matchPattern(value, m_AnyZeroFloat());
  }

  llvm::SetVector<Value> values;
  SmallVector<OpOperand *> sinks;
};

} // namespace

void PartialSums::follow(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<arith::AddFOp, arith::MulFOp>(user))
    return add(user->getResult(0));
  if (auto loop = dyn_cast<scf::ForOp>(user)) {
    add(loop.getTiedLoopRegionIterArg(&use));
    return add(loop.getTiedLoopResult(&use));
  }
  auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
  if (isa<scf::YieldOp>(user) && loop) {
    add(loop.getRegionIterArg(use.getOperandNumber()));
    return add(loop.getResult(use.getOperandNumber()));
  }
  sinks.push_back(&use);
}

bool PartialSums::isConsistent() const {
  for (Value value : values) {
    if (auto sum = value.getDefiningOp<arith::AddFOp>())
      if (!isPartialOrZero(sum.getLhs()) || !isPartialOrZero(sum.getRhs()))
        return false;
    if (auto product = value.getDefiningOp<arith::MulFOp>())
      if (values.contains(product.getLhs()) ==
          values.contains(product.getRhs()))
        return false;
    if (auto result = dyn_cast<OpResult>(value))
      if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
        if (!isPartialOrZero(loop.getInitArgs()[result.getResultNumber()]) ||
            !isPartialOrZero(loop.getYieldedValues()[result.getResultNumber()]))
          return false;
  }
  // A sum that is used whole where it is still being carried gains nothing.
  return llvm::all_of(sinks, [](OpOperand *sink) {
    auto result = dyn_cast<OpResult>(sink->get());
    return result && isa<scf::ForOp>(result.getOwner());
  });
}

namespace {

struct AttnDeferRowSums
    : attn::impl::AttnDeferRowSumsPassBase<AttnDeferRowSums> {
  void runOnOperation() override {
    SmallVector<vector::MultiDimReductionOp> reductions;
    getOperation().walk([&](vector::MultiDimReductionOp op) {
      auto type = dyn_cast<VectorType>(op.getType());
      if (op.getKind() == vector::CombiningKind::ADD && type &&
          type.getElementType().isF32() &&
          op.getReductionMask() == SmallVector<bool>{false, true} &&
          matchPattern(op.getAcc(), m_AnyZeroFloat()))
        reductions.push_back(op);
    });
    PartialSums sums(reductions);
    if (reductions.empty() || !sums.isConsistent())
      return;
    OpBuilder builder(&getContext());
    for (vector::MultiDimReductionOp op : reductions)
      op->setAttr(attn_gpu::kPartialAttr, builder.getUnitAttr());
    llvm::DenseMap<Value, Value> whole;
    for (OpOperand *sink : sums.getSinks()) {
      Value &sum = whole[sink->get()];
      if (!sum) {
        builder.setInsertionPointAfterValue(sink->get());
        sum = attn_gpu::RowSumOp::create(builder, sink->getOwner()->getLoc(),
                                         sink->get().getType(), sink->get());
      }
      sink->set(sum);
    }
  }
};

} // namespace
