//===- ForwardSlots.cpp - Tiles that a worker does not need ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/ForwardSlots.h"
#include "passes/Rematerialize.h"

using namespace mlir;
using namespace mlir::attn;

SmallVector<attn_gpu::ReceiveOp> mlir::attn::getReceives(TileLoopOp loop) {
  return llvm::to_vector(loop.getBody()->getOps<attn_gpu::ReceiveOp>());
}

bool mlir::attn::canForwardSlots(TileLoopOp loop) {
  IRMapping mapping;
  mapping.map(loop.getIteration(), loop.getIteration());
  return llvm::all_of(getReceives(loop), [&](attn_gpu::ReceiveOp receive) {
    return canRematerialize(receive.getSlot(), loop.getBody(), mapping);
  });
}

void mlir::attn::forwardSlots(OpBuilder &builder, TileLoopOp old, Value from,
                              Value to) {
  auto loop = TileLoopOp::create(
      builder, old.getLoc(), old.getAxis(), old.getStep(), old.getFirst(),
      old.getDescending(), from, to, SegmentKind::Full, ValueRange(), {});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  mapping.map(old.getIteration(), loop.getIteration());
  for (attn_gpu::ReceiveOp receive : getReceives(old)) {
    Value slot =
        rematerialize(builder, receive.getSlot(), old.getBody(), mapping);
    builder.clone(*receive, mapping);
    attn_gpu::ReleaseOp::create(builder, receive.getLoc(), receive.getChannel(),
                                slot);
  }
}
