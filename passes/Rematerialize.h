//===- Rematerialize.h - Compute a value again elsewhere --------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The backward slice of a value, cloned to where a builder stands, with some
// of the values that it starts from replaced.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_REMATERIALIZE_H
#define ATTN_PASSES_REMATERIALIZE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::attn {

/// Whether `value` can be computed again from what `mapping` has and what is
/// defined outside of `scope` and the regions in it, by ops without effects and
/// regions.
bool canRematerialize(Value value, Block *scope, const IRMapping &mapping);

/// `value` from what `mapping` has and what is defined outside of `scope`;
/// clones ops of `scope`, and of the regions in it that `value` is in, that are
/// not in `mapping` yet, folds what can be, and adds all of it to `mapping`. An
/// op is cloned with its regions.
Value rematerialize(OpBuilder &builder, Value value, Block *scope,
                    IRMapping &mapping);

/// Whether `a` and `b` are the same function of what `isSameInput` equates, by
/// ops without effects, or with reads alone, and without regions. Each pair of
/// values is compared once.
bool isSameFunction(Value a, Value b,
                    llvm::function_ref<bool(Value, Value)> isSameInput);

} // namespace mlir::attn

#endif // ATTN_PASSES_REMATERIALIZE_H
