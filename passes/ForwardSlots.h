//===- ForwardSlots.h - Tiles that a worker does not need -------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slot of a channel is free for the next copy once all workers released it,
// also those that do not need its tile. They forward it: receive and release.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_FORWARDSLOTS_H
#define ATTN_PASSES_FORWARDSLOTS_H

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

namespace mlir::attn {

/// What `loop` receives in an iteration.
SmallVector<attn_gpu::ReceiveOp> getReceives(TileLoopOp loop);

/// Whether all slots that `loop` receives follow from the iteration's number.
bool canForwardSlots(TileLoopOp loop);

/// Receives and releases what `loop` would in the iterations from `from` to
/// `to`, at `builder`.
void forwardSlots(OpBuilder &builder, TileLoopOp loop, Value from, Value to);

} // namespace mlir::attn

#endif // ATTN_PASSES_FORWARDSLOTS_H
