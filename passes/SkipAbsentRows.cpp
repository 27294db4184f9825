//===- SkipAbsentRows.cpp - attn-skip-absent-rows -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for i in [0, n) { receive, work, release } ...; write rows from r
//   ->  m = r is past the last row ? 0 : n
//       for i in [m, n) { receive, release }
//       for i in [0, m) { receive, work, release } ...; write rows from r
//
// The last query tile of a sequence may have fewer rows than a block computes.
// Workers with none of them would otherwise multiply zeros, on tensor cores
// that the block's other workers wait for.
//
//===----------------------------------------------------------------------===//

#include "passes/HandOn.h"
#include "passes/Passes.h"

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

/// A consumer's loop over query tiles.
struct TileLoop {
  scf::ForOp loop;
  /// The loops over key tiles, which follow each other from 0.
  SmallVector<scf::ForOp> keyLoops;
  /// All that it writes.
  SmallVector<vector::TransferWriteOp> writes;
};

} // namespace

/// Whether `value` is known before the worker's first key.
static bool isKnownBefore(Value value, scf::ForOp firstKeyLoop) {
  Operation *op = value.getParentBlock()->getParentOp();
  if (Operation *def = value.getDefiningOp())
    op = def;
  Operation *here = firstKeyLoop->getBlock()->findAncestorOpInBlock(*op);
  return !here || here->isBeforeInBlock(firstKeyLoop);
}

static bool matchKeyLoops(TileLoop &found) {
  SmallVector<Value> channels;
  Value end;
  for (auto loop : found.loop.getBody()->getOps<scf::ForOp>()) {
    bool follows = end ? loop.getLowerBound() == end
                       : matchPattern(loop.getLowerBound(), m_Zero());
    SmallVector<Value> received;
    for (attn_gpu::ReceiveOp receive : getReceives(loop))
      received.push_back(receive.getChannel());
    if (!follows || !matchPattern(loop.getStep(), m_One()) ||
        !canHandOn(loop) || received.empty() || (end && received != channels))
      return false;
    channels = received;
    end = loop.getUpperBound();
    found.keyLoops.push_back(loop);
    if (!isKnownBefore(end, found.keyLoops.front()))
      return false;
  }
  return !found.keyLoops.empty();
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
static bool matchWrites(TileLoop &found) {
  WalkResult result = found.loop.walk([&](Operation *op) {
    if (isa<attn_gpu::AttnGPUDialect>(op->getDialect()) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(op) || isa<vector::TransferReadOp>(op))
      return WalkResult::advance();
    auto write = dyn_cast<vector::TransferWriteOp>(op);
    std::optional<unsigned> dim = write ? getRowDim(write) : std::nullopt;
    if (!dim ||
        !isKnownBefore(write.getIndices()[*dim], found.keyLoops.front()))
      return WalkResult::interrupt();
    found.writes.push_back(write);
    return WalkResult::advance();
  });
  return !result.wasInterrupted() && !found.writes.empty();
}

/// Whether nothing that is written exists.
static Value buildIsAbsent(OpBuilder &builder, TileLoop &found) {
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

static void rewrite(TileLoop &found) {
  scf::ForOp first = found.keyLoops.front(), last = found.keyLoops.back();
  Location loc = first.getLoc();
  OpBuilder builder(first);
  Value isAbsent = buildIsAbsent(builder, found);
  Value end = last.getUpperBound(), from = first.getLowerBound();
  for (scf::ForOp loop : found.keyLoops) {
    Value present = arith::SelectOp::create(
        builder, loc, isAbsent, first.getLowerBound(), loop.getUpperBound());
    loop.setLowerBound(from);
    loop.setUpperBound(present);
    from = present;
  }
  handOn(builder, first, from, end);
}

namespace {

struct AttnSkipAbsentRows
    : attn::impl::AttnSkipAbsentRowsPassBase<AttnSkipAbsentRows> {
  void runOnOperation() override {
    SmallVector<TileLoop> loops;
    getOperation().walk([&](scf::ForOp loop) {
      TileLoop found;
      found.loop = loop;
      if (isa<attn_gpu::SpecializeOp>(loop->getParentOp()) &&
          matchKeyLoops(found) && matchWrites(found))
        loops.push_back(found);
    });
    for (TileLoop &found : loops)
      rewrite(found);
  }
};

} // namespace
