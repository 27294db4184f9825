//===- SkipAbsentRows.cpp - attn-skip-absent-rows -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tile_loop [0, n) { receive, work, release }; write rows from r
//   ->  m = r is past the last row ? 0 : n
//       tile_loop [m, n) { receive, release }
//       tile_loop [0, m) { receive, work, release }; write rows from r
//
// The last query tile of a sequence may have fewer rows than a block computes.
// Workers with none of them would otherwise multiply zeros, on tensor cores
// that the block's other workers wait for.
//
//===----------------------------------------------------------------------===//

#include "passes/ForwardSlots.h"
#include "passes/Passes.h"

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSKIPABSENTROWSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// A consumer's loop over the tiles of a block.
struct BlockLoop {
  scf::ForOp loop;
  /// The loop over keys in it.
  TileLoopOp keyLoop;
  /// All that it writes.
  SmallVector<vector::TransferWriteOp> writes;
};

} // namespace

/// Whether `value` is known before the worker's first key.
static bool isKnownBefore(Value value, TileLoopOp keyLoop) {
  Operation *op = value.getParentBlock()->getParentOp();
  if (Operation *def = value.getDefiningOp())
    op = def;
  Operation *here = keyLoop->getBlock()->findAncestorOpInBlock(*op);
  return !here || here->isBeforeInBlock(keyLoop);
}

/// Finds the loop that receives tiles.
static bool matchKeyLoop(BlockLoop &found) {
  for (auto loop : found.loop.getBody()->getOps<TileLoopOp>()) {
    if (getReceives(loop).empty())
      continue;
    if (found.keyLoop || !canForwardSlots(loop))
      return false;
    found.keyLoop = loop;
  }
  return found.keyLoop != nullptr;
}

/// The dimension that the rows of `write` run along, if it may end among them.
static std::optional<unsigned> getRowDim(vector::TransferWriteOp write) {
  auto dim = dyn_cast<AffineDimExpr>(write.getPermutationMap().getResult(0));
  if (!dim || !isa<MemRefType>(write.getBase().getType()) ||
      write.getInBoundsValues().front())
    return std::nullopt;
  return dim.getPosition();
}

/// Finds the writes; false if one of them is not known to be of rows that the
/// worker knows before its first key.
static bool matchWrites(BlockLoop &found) {
  WalkResult result = found.loop.walk([&](Operation *op) {
    if (isa<attn_gpu::AttnGPUDialect>(op->getDialect()) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(op) || isa<vector::TransferReadOp>(op))
      return WalkResult::advance();
    auto write = dyn_cast<vector::TransferWriteOp>(op);
    std::optional<unsigned> dim = write ? getRowDim(write) : std::nullopt;
    if (!dim || !isKnownBefore(write.getIndices()[*dim], found.keyLoop))
      return WalkResult::interrupt();
    found.writes.push_back(write);
    return WalkResult::advance();
  });
  return !result.wasInterrupted() && !found.writes.empty();
}

/// Whether nothing that is written exists.
static Value buildIsAbsent(OpBuilder &builder, BlockLoop &found) {
  Location loc = found.loop.getLoc();
  Value all;
  for (vector::TransferWriteOp write : found.writes) {
    unsigned dim = *getRowDim(write);
    Value size = memref::DimOp::create(builder, loc, write.getBase(), dim);
    Value isAbsent = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, write.getIndices()[dim], size);
    all = all ? arith::AndIOp::create(builder, loc, all, isAbsent).getResult()
              : isAbsent;
  }
  return all;
}

static void rewrite(BlockLoop &found) {
  TileLoopOp loop = found.keyLoop;
  OpBuilder builder(loop);
  Value isAbsent = buildIsAbsent(builder, found);
  Value end = loop.getEnd();
  for (unsigned segment = 0; segment < loop.getNumSegments(); ++segment)
    loop.setEnd(segment, arith::SelectOp::create(builder, loop.getLoc(),
                                                 isAbsent, loop.getFrom(),
                                                 loop.getEnds()[segment]));
  forwardSlots(builder, loop, loop.getEnd(), end);
}

namespace {

struct AttnSkipAbsentRows
    : attn::impl::AttnSkipAbsentRowsPassBase<AttnSkipAbsentRows> {
  void runOnOperation() override {
    SmallVector<BlockLoop> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (!isa<attn_gpu::SpecializeOp>(loop->getParentOp()) ||
          loop.getBody()->getOps<TileLoopOp>().empty())
        return;
      BlockLoop found;
      found.loop = loop;
      auto isConsumer = [&] {
        return !loop.getBody()->getOps<attn_gpu::ReceiveOp>().empty() ||
               loop.walk([](attn_gpu::ReceiveOp) {
                     return WalkResult::interrupt();
                   })
                   .wasInterrupted();
      };
      if (!isConsumer())
        return;
      if (matchKeyLoop(found) && matchWrites(found))
        loops.push_back(found);
      else
        loop.emitRemark("absent rows are computed: expected one loop that "
                        "receives tiles, and writes of rows known before it");
    });
    for (BlockLoop &found : loops)
      rewrite(found);
  }
};

} // namespace
