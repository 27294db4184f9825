//===- SpecializeWarpgroups.cpp - attn-specialize-warpgroups --------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for tile { copies and work }
//   ->  specialize producer { for tile { copies } }
//                  consumers { for tile { work } }
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSPECIALIZEWARPGROUPSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static bool containsCopy(Operation *op) {
  return op->walk([](attn_gpu::TMALoadOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether the one thread of the producer can carry out `op`, given what it
/// has: scalar arithmetic on scalars.
static bool isProducerScalar(Operation *op, const IRMapping &mapping,
                             Operation *scope) {
  if (isa<attn_gpu::WorkerIdOp>(op) || !isMemoryEffectFree(op) ||
      op->getNumRegions() != 0)
    return false;
  if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return mapping.contains(operand) ||
           !scope->isAncestor(operand.getParentBlock()->getParentOp());
  });
}

/// Clones of `block` what the producer does, behind what `builder` has of it.
static void cloneProducerOps(OpBuilder &builder, Block *block,
                             IRMapping &mapping, Operation *scope) {
  for (Operation &op : block->without_terminator()) {
    auto loop = dyn_cast<TileLoopOp>(op);
    if (!loop) {
      if (isa<attn_gpu::TMALoadOp>(op) || isProducerScalar(&op, mapping, scope))
        builder.clone(op, mapping);
      continue;
    }
    if (!containsCopy(loop))
      continue;
    // All tiles are the same to whoever copies them.
    auto copy = TileLoopOp::create(
        builder, loop.getLoc(), loop.getAxis(), loop.getStep(),
        mapping.lookupOrDefault(loop.getFirst()), loop.getDescending(),
        mapping.lookupOrDefault(loop.getFrom()),
        mapping.lookupOrDefault(loop.getEnd()), SegmentKind::Full, ValueRange(),
        {});
    mapping.map(loop.getIteration(), copy.getIteration());
    mapping.map(loop.getPosition(), copy.getPosition());
    OpBuilder nested = OpBuilder::atBlockBegin(copy.getBody());
    cloneProducerOps(nested, loop.getBody(), mapping, scope);
  }
}

/// Clones of `loop`, over the tiles of a block, what the producer does. Only
/// index values are carried: counts, never data.
static void cloneProducerLoop(OpBuilder &builder, scf::ForOp loop,
                              IRMapping &mapping) {
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  for (auto [number, init] : llvm::enumerate(loop.getInitArgs())) {
    if (!init.getType().isIndex())
      continue;
    carried.push_back(number);
    inits.push_back(init);
  }
  auto copy = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [position, number] : llvm::enumerate(carried))
    mapping.map(loop.getRegionIterArg(number), copy.getRegionIterArg(position));
  OpBuilder nested = OpBuilder::atBlockBegin(copy.getBody());
  cloneProducerOps(nested, loop.getBody(), mapping, loop);
  if (carried.empty())
    return;
  SmallVector<Value> yielded;
  for (unsigned number : carried)
    yielded.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[number]));
  scf::YieldOp::create(nested, loop.getLoc(), yielded);
}

static void eraseDeadOps(Region &region) {
  region.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// Whether everything that `region` uses is in it or outside of `scope`.
static bool isSelfContained(Region &region, Operation *scope) {
  return !region
              .walk([&](Operation *op) {
                bool isInside = llvm::all_of(op->getOperands(), [&](Value v) {
                  return region.isAncestor(v.getParentRegion()) ||
                         !scope->isAncestor(v.getParentBlock()->getParentOp());
                });
                return isInside ? WalkResult::advance()
                                : WalkResult::interrupt();
              })
              .wasInterrupted();
}

static LogicalResult specialize(scf::ForOp tileLoop, ScheduleAttr schedule) {
  OpBuilder builder(tileLoop);
  Location loc = tileLoop.getLoc();
  auto roles = attn_gpu::SpecializeOp::create(
      builder, loc, schedule.getRegisters()[0], schedule.getWorkers(),
      schedule.getRegisters()[1]);
  for (Region *region : {&roles.getProducer(), &roles.getConsumer()}) {
    builder.createBlock(region);
    attn_gpu::EndOp::create(builder, loc);
  }
  builder.setInsertionPointToStart(&roles.getProducer().front());
  IRMapping mapping;
  cloneProducerLoop(builder, tileLoop, mapping);
  eraseDeadOps(roles.getProducer());
  if (!isSelfContained(roles.getProducer(), tileLoop)) {
    roles.erase();
    return failure();
  }

  tileLoop->moveBefore(roles.getConsumer().front().getTerminator());
  tileLoop.walk([](attn_gpu::TMALoadOp op) { op.erase(); });
  eraseDeadOps(roles.getConsumer());
  return success();
}

namespace {

struct AttnSpecializeWarpgroups
    : attn::impl::AttnSpecializeWarpgroupsPassBase<AttnSpecializeWarpgroups> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (!schedule || schedule.getStyle() != Style::FA3)
      return;
    // The block has a warpgroup for the producer, so there is no way back.
    auto loops = llvm::to_vector(kernel.getBody().getOps<scf::ForOp>());
    if (loops.size() != 1 || !containsCopy(loops.front())) {
      kernel.emitOpError() << "expected one loop over tiles that copies, to "
                              "give the producer and the consumers roles";
      return signalPassFailure();
    }
    if (failed(specialize(loops.front(), schedule))) {
      kernel.emitOpError() << "expected copies that depend on neither the "
                              "worker nor its data, for the producer to make";
      return signalPassFailure();
    }
  }
};

} // namespace
