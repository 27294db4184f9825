//===- DeferRowSums.cpp - attn-defer-row-sums -----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tile_loop carries(sum l) { rescale(l) + sum(p) }; use(l)
//   ->  tile_loop carries(partial_sum l) { rescale(l) + partial_sum(p) };
//       use(row_sum l)
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// The sum that a loop carries, and how an iteration goes on with it.
class CarriedSum {
public:
  CarriedSum(TileLoopOp loop, unsigned number) : loop(loop), number(number) {}

  /// Finds what becomes partial; says what is in the way, if anything.
  std::optional<StringRef> match();
  void defer();

private:
  bool follow(Value value);
  bool leavesLoop(OpOperand &use);

  TileLoopOp loop;
  unsigned number;
  llvm::SetVector<Value> values;
  SmallVector<vector::MultiDimReductionOp> reductions;
};

} // namespace

/// Whether `value` is linear in sums of rows, and all that is, carried or 0.
bool CarriedSum::follow(Value value) {
  if (matchPattern(value, m_AnyZeroFloat()))
    return true;
  values.insert(value);
  if (value == loop.getRegionIterArgs()[number])
    return true;
  if (auto sum = value.getDefiningOp<arith::AddFOp>())
    return follow(sum.getLhs()) && follow(sum.getRhs());
  if (auto rescale = value.getDefiningOp<RescaleOp>())
    return follow(rescale.getSums()[cast<OpResult>(value).getResultNumber()]);
  auto reduction = value.getDefiningOp<vector::MultiDimReductionOp>();
  if (!reduction || reduction.getKind() != vector::CombiningKind::ADD ||
      reduction.getReductionMask() != SmallVector<bool>{false, true})
    return false;
  reductions.push_back(reduction);
  return follow(reduction.getAcc());
}

/// Whether `use` is of a partial value, by something that must not know it.
bool CarriedSum::leavesLoop(OpOperand &use) {
  Operation *user = use.getOwner();
  if (user == loop.getYield())
    return use.getOperandNumber() != number;
  if (auto rescale = dyn_cast<RescaleOp>(user)) {
    unsigned sum = use.getOperandNumber();
    return sum >= rescale.getSums().size() ||
           !values.contains(rescale.getResult(sum));
  }
  return user->getNumResults() != 1 || !values.contains(user->getResult(0));
}

std::optional<StringRef> CarriedSum::match() {
  if (!cast<VectorType>(loop.getInits()[number].getType())
           .getElementType()
           .isF32())
    return "expected a sum in f32";
  if (!matchPattern(loop.getInits()[number], m_AnyZeroFloat()))
    return "expected a sum from 0 on";
  values.insert(loop.getRegionIterArgs()[number]);
  if (!follow(loop.getYield().getOperand(number)) || reductions.empty())
    return "expected sums of rows, added up and rescaled";
  for (Value value : values)
    if (llvm::any_of(value.getUses(),
                     [&](OpOperand &use) { return leavesLoop(use); }))
      return "expected a sum that is used only behind the loop";
  return std::nullopt;
}

void CarriedSum::defer() {
  OpBuilder builder(loop.getContext());
  for (vector::MultiDimReductionOp op : reductions) {
    builder.setInsertionPoint(op);
    Value sum = attn_gpu::PartialSumOp::create(builder, op.getLoc(),
                                               op.getType(), op.getSource());
    if (!matchPattern(op.getAcc(), m_AnyZeroFloat()))
      sum = arith::AddFOp::create(builder, op.getLoc(), op.getAcc(), sum);
    op.getResult().replaceAllUsesWith(sum);
    op.erase();
  }
  SmallVector<Attribute> roles(loop.getRoles().getValue());
  roles[number] =
      CarriedRoleAttr::get(loop.getContext(), CarriedRole::PartialSum);
  loop.setRolesAttr(builder.getArrayAttr(roles));
  Value result = loop.getResult(number);
  if (result.use_empty())
    return;
  builder.setInsertionPointAfter(loop);
  auto whole = attn_gpu::RowSumOp::create(builder, loop.getLoc(),
                                          result.getType(), result);
  result.replaceAllUsesExcept(whole, whole);
}

namespace {

struct AttnDeferRowSums
    : attn::impl::AttnDeferRowSumsPassBase<AttnDeferRowSums> {
  void runOnOperation() override {
    getOperation().walk([](TileLoopOp loop) {
      std::optional<unsigned> number = loop.findCarried(CarriedRole::Sum);
      if (!number)
        return;
      CarriedSum sum(loop, *number);
      if (std::optional<StringRef> reason = sum.match())
        loop.emitRemark("row sums are not deferred: ") << *reason;
      else
        sum.defer();
    });
  }
};

} // namespace
