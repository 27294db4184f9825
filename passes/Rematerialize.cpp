//===- Rematerialize.cpp - Compute a value again elsewhere ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Rematerialize.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::attn;

/// Whether `block` is `scope` or in a region in it.
static bool isInScope(Block *block, Block *scope) {
  return scope->getParent()->findAncestorBlockInRegion(*block) == scope;
}

/// The op that computes `value` in `scope`, or null where it is an input.
static Operation *getDefInScope(Value value, Block *scope,
                                const IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  return !op || mapping.contains(value) || !isInScope(op->getBlock(), scope)
             ? nullptr
             : op;
}

bool mlir::attn::canRematerialize(Value value, Block *scope,
                                  const IRMapping &mapping) {
  SmallVector<Value> worklist = {value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = getDefInScope(next, scope, mapping);
    if (!op) {
      // An argument of the scope that nobody replaces has no value elsewhere.
      if (isa<BlockArgument>(next) && isInScope(next.getParentBlock(), scope) &&
          !mapping.contains(next))
        return false;
      continue;
    }
    if (!seen.insert(op).second)
      continue;
    if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
      return false;
    llvm::append_range(worklist, op->getOperands());
  }
  return true;
}

Value mlir::attn::rematerialize(OpBuilder &builder, Value value, Block *scope,
                                IRMapping &mapping) {
  Operation *op = getDefInScope(value, scope, mapping);
  if (!op)
    return mapping.lookupOrDefault(value);
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        rematerialize(builder, operand, scope, mapping);
  });
  Operation *copy = builder.clone(*op, mapping);
  SmallVector<Value> folded;
  if (op->getNumRegions() == 0 && succeeded(builder.tryFold(copy, folded)) &&
      !folded.empty()) {
    mapping.map(op->getResults(), folded);
    copy->erase();
  }
  return mapping.lookup(value);
}

namespace {

/// Compares backward slices, each pair of values once.
class SliceComparison {
public:
  explicit SliceComparison(llvm::function_ref<bool(Value, Value)> isSameInput)
      : isSameInput(isSameInput) {}

  bool compare(Value a, Value b) {
    if (isSameInput(a, b))
      return true;
    auto [known, isNew] = results.try_emplace({a, b}, false);
    if (!isNew)
      return known->second;
    bool same = compareOps(a, b);
    results[{a, b}] = same;
    return same;
  }

private:
  static bool isOnlyReading(Operation *op) {
    return isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op);
  }
  bool compareOps(Value a, Value b) {
    auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
    return first && second &&
           first.getResultNumber() == second.getResultNumber() &&
           first.getOwner()->getNumRegions() == 0 &&
           isOnlyReading(first.getOwner()) &&
           OperationEquivalence::isEquivalentTo(
               first.getOwner(), second.getOwner(),
               [&](Value x, Value y) { return success(compare(x, y)); },
               /*markEquivalent=*/nullptr,
               OperationEquivalence::IgnoreLocations);
  }

  llvm::function_ref<bool(Value, Value)> isSameInput;
  llvm::DenseMap<std::pair<Value, Value>, bool> results;
};

} // namespace

bool mlir::attn::isSameFunction(
    Value a, Value b, llvm::function_ref<bool(Value, Value)> isSameInput) {
  return SliceComparison(isSameInput).compare(a, b);
}
