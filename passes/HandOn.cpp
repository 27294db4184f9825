//===- HandOn.cpp - Tiles that a worker passes over -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/HandOn.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::attn;

SmallVector<attn_gpu::ReceiveOp> mlir::attn::getReceives(scf::ForOp loop) {
  return llvm::to_vector(loop.getBody()->getOps<attn_gpu::ReceiveOp>());
}

/// Whether the number of the slot is known from the visit alone.
static bool isSimpleSlot(attn_gpu::ReceiveOp receive, scf::ForOp loop) {
  Operation *op = receive.getSlot().getDefiningOp();
  return !op || op->getBlock() != loop.getBody() ||
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand == loop.getInductionVar() ||
                  loop.isDefinedOutsideOfLoop(operand);
         });
}

bool mlir::attn::canHandOn(scf::ForOp loop) {
  return llvm::all_of(getReceives(loop), [&](attn_gpu::ReceiveOp receive) {
    return isSimpleSlot(receive, loop);
  });
}

void mlir::attn::handOn(OpBuilder &builder, scf::ForOp old, Value from,
                        Value to) {
  auto loop =
      scf::ForOp::create(builder, old.getLoc(), from, to, old.getStep());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  mapping.map(old.getInductionVar(), loop.getInductionVar());
  for (attn_gpu::ReceiveOp receive : getReceives(old)) {
    Value slot = receive.getSlot();
    if (Operation *op = slot.getDefiningOp();
        op && op->getBlock() == old.getBody() && !mapping.contains(slot))
      builder.clone(*op, mapping);
    builder.clone(*receive, mapping);
    attn_gpu::ReleaseOp::create(builder, receive.getLoc(), receive.getChannel(),
                                mapping.lookupOrDefault(slot));
  }
}
