//===- InlineAsm.h - Instructions that no NVVM op can say -------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All raw inline assembly of the compiler. Each function says why upstream's op
// or intrinsic does not do.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_INLINEASM_H
#define ATTN_CODEGEN_TONVVM_INLINEASM_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::attn_gpu {

/// One chain of m64nNk16 products over the whole inner dimension.
struct MatmulChain {
  int64_t columns;
  Type elementType;
  /// A in registers, 4 per k-step, or descriptors of the first k-steps.
  SmallVector<Value> a;
  bool aInRegisters;
  /// What to add to the last descriptor of A for each k-step that has none.
  SmallVector<int64_t> aSteps;
  /// A descriptor per k-step.
  SmallVector<Value> b;
  /// B is MN-major.
  bool transposeB;
  /// Scalars to add to; none: the first product overwrites.
  SmallVector<Value> accumulator;
  /// End the group of asynchronous products after this chain.
  bool commit;
};

/// Starts the products and returns their registers, which are in flight.
SmallVector<Value> emitMatmulChain(ImplicitLocOpBuilder &b,
                                   const MatmulChain &chain);

/// Waits until at most `pending` groups are in flight; returns `registers` as
/// they are then.
SmallVector<Value> emitMatmulWait(ImplicitLocOpBuilder &b, int64_t pending,
                                  ValueRange registers);

/// Spins until the phase of parity `parity` of the mbarrier has completed;
/// `suspends`: each try puts the thread to sleep for a while.
void emitBarrierWait(ImplicitLocOpBuilder &b, Value address, Value parity,
                     bool suspends);

/// Arrives at the mbarrier if `predicate`.
void emitBarrierArrive(ImplicitLocOpBuilder &b, Value address, Value predicate);

/// Rounds two f32 to a register of two 16-bit floats, `low` in the low half.
Value emitPack(ImplicitLocOpBuilder &b, Type elementType, Value low,
               Value high);

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_INLINEASM_H
