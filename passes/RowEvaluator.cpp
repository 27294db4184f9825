//===- RowEvaluator.cpp - Vectors of positions as scalars -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/RowEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

Value RowEvaluator::evaluate(Value value) {
  if (workers) {
    // Rows are counted over all workers, so the offset is that of worker 0.
    auto offset = value.getDefiningOp<arith::MulIOp>();
    if (offset && offset.getLhs() == workers.getInductionVar(0) &&
        getConstantIntValue(offset.getRhs()) == rowsPerWorker)
      return arith::ConstantIndexOp::create(builder, loc, 0);
    if (value == workers.getInductionVar(0))
      return {};
  }
  Operation *op = value.getDefiningOp();
  if (isa<VectorType>(value.getType()))
    return op ? evaluateVector(value, op) : Value();
  return isInsideWorkers(op) ? evaluateOperation(op, value.getType()) : value;
}

Value RowEvaluator::evaluateVector(Value value, Operation *op) {
  if (isa<vector::StepOp>(op))
    return row;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return isa<VectorType>(broadcast.getSourceType())
               ? Value()
               : evaluate(broadcast.getSource());
  DenseElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return splat.isSplat() ? arith::ConstantOp::create(
                                 builder, loc, splat.getSplatValue<TypedAttr>())
                                 .getResult()
                           : Value();
  return op->hasTrait<OpTrait::Elementwise>()
             ? evaluateOperation(op, getElementTypeOrSelf(value.getType()))
             : Value();
}

Value RowEvaluator::evaluateOperation(Operation *op, Type type) {
  if (!isMemoryEffectFree(op) || op->getNumResults() != 1 ||
      op->getNumRegions() != 0)
    return {};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!operands.emplace_back(evaluate(operand)))
      return {};
  OperationState state(loc, op->getName(), operands, type, op->getAttrs());
  return builder.create(state)->getResult(0);
}
