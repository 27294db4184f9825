//===- HandOn.h - Tiles that a worker passes over ---------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slot of a channel is empty once every worker has released it, so that a
// worker with no use for a tile must hand it on all the same.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_HANDON_H
#define ATTN_PASSES_HANDON_H

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::attn {

/// What `loop` receives directly in its body.
SmallVector<attn_gpu::ReceiveOp> getReceives(scf::ForOp loop);

/// Whether the number of every slot is known from the visit alone, so that a
/// loop without the rest of the body can receive it.
bool canHandOn(scf::ForOp loop);

/// Builds a loop over visits [from, to) that receives and releases what `loop`
/// receives, without working on it.
void handOn(OpBuilder &builder, scf::ForOp loop, Value from, Value to);

} // namespace mlir::attn

#endif // ATTN_PASSES_HANDON_H
