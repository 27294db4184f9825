//===- AsyncCopies.cpp - attn-async-copies --------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// %k = vector.transfer_read %K[b, n, h, 0]
//   ->  attn_gpu.tma_load %map[b, n, h, 0] to %channel[slot]      (fa3)
//       attn_gpu.cooperative_load %K[b, n, h, 0] to %channel[slot]  (fa2)
//       %tile = attn_gpu.receive %channel[slot]
//       %k = attn_gpu.tile_value %tile
//       ... last use of %k ...
//       attn_gpu.release %channel[slot]
//
// Slot numbers are running counts over all tiles of a block: the loop over them
// carries how many came before, and how many iterations their tile loops had.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Rematerialize.h"
#include "passes/ScheduleLimits.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNASYNCCOPIESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Rewrites the reads of one kernel.
class CopyRewriter {
public:
  CopyRewriter(gpu::GPUFuncOp kernel, ScheduleAttr schedule)
      : kernel(kernel), schedule(schedule), builder(kernel.getContext()),
        loc(kernel.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult findLoops();
  void carryCounts();
  Value getTensorMap(Value memref, ArrayRef<int64_t> box, Type element);
  FailureOr<SmallVector<Value>> getBlockIndices(vector::TransferReadOp read,
                                                bool &isShared);
  void createLoad(vector::TransferReadOp read, ValueRange coordinates,
                  Value channel, Value slot);
  LogicalResult check(vector::TransferReadOp read);
  LogicalResult rewrite(vector::TransferReadOp read);

  gpu::GPUFuncOp kernel;
  ScheduleAttr schedule;
  OpBuilder builder;
  Location loc;
  /// The loop over the tiles of a block.
  scf::ForOp blockLoop;
  /// How many tiles of the grid came before, and how many iterations each tile
  /// loop in them had.
  Value gridCount;
  llvm::MapVector<Operation *, Value> iterationCounts;
};

} // namespace

/// Finds the loop over the tiles of a block and the tile loops in it, which
/// count their iterations from 0.
LogicalResult CopyRewriter::findLoops() {
  for (auto loop : kernel.getBody().getOps<scf::ForOp>()) {
    if (blockLoop)
      return kernel.emitOpError() << "expected one loop over tiles";
    blockLoop = loop;
  }
  if (!blockLoop || blockLoop.getNumResults() != 0)
    return kernel.emitOpError() << "expected a loop over tiles that carries "
                                   "nothing";
  for (auto loop : blockLoop.getBody()->getOps<TileLoopOp>()) {
    if (!matchPattern(loop.getFrom(), m_Zero()))
      return loop.emitOpError() << "expected iterations from 0";
    iterationCounts.insert({loop, Value()});
  }
  return success();
}

/// Makes the loop over tiles carry the running counts.
void CopyRewriter::carryCounts() {
  builder.setInsertionPoint(blockLoop);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> inits(1 + iterationCounts.size(), zero);
  IRRewriter rewriter(builder);
  blockLoop = cast<scf::ForOp>(*blockLoop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &nested, Location loc,
          ArrayRef<BlockArgument> counts) -> SmallVector<Value> {
        Value one = arith::ConstantIndexOp::create(nested, loc, 1);
        gridCount = counts[0];
        SmallVector<Value> next = {
            arith::AddIOp::create(nested, loc, gridCount, one)};
        for (auto [number, entry] : llvm::enumerate(iterationCounts)) {
          entry.second = counts[number + 1];
          next.push_back(
              arith::AddIOp::create(nested, loc, entry.second,
                                    cast<TileLoopOp>(entry.first).getEnd()));
        }
        return next;
      }));
}

/// The descriptor of `memref` with this box, an argument of the kernel.
Value CopyRewriter::getTensorMap(Value memref, ArrayRef<int64_t> box,
                                 Type element) {
  auto type = attn_gpu::TensorMapType::get(kernel.getContext(), box, element,
                                           kPanelBytes);
  unsigned number = cast<BlockArgument>(memref).getArgNumber();
  for (BlockArgument argument : kernel.getArguments()) {
    auto of = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                   attn_gpu::kMapOfAttr);
    if (argument.getType() == type && of.getInt() == number)
      return argument;
  }
  auto mapOf = builder.getDictionaryAttr(builder.getNamedAttr(
      attn_gpu::kMapOfAttr, builder.getI64IntegerAttr(number)));
  unsigned position = kernel.getNumArguments();
  (void)kernel.insertArgument(position, type, mapOf, loc);
  return kernel.getArgument(position);
}

/// Adds up which of the terms of `index`, a sum, depend on the worker.
static void collectWorkerTerms(Value index, Block *block,
                               SmallVectorImpl<Value> &terms) {
  auto dependsOnWorker = [&](Value value) {
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    (void)getBackwardSlice(value, &slice, options);
    return llvm::any_of(slice, llvm::IsaPred<attn_gpu::WorkerIdOp>);
  };
  if (!dependsOnWorker(index))
    return;
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    collectWorkerTerms(sum.getLhs(), block, terms);
    collectWorkerTerms(sum.getRhs(), block, terms);
  } else {
    terms.push_back(index);
  }
}

/// Whether `term` is the worker's number times `rows`.
static bool isWorkerRow(Value term, int64_t rows) {
  auto product = term.getDefiningOp<arith::MulIOp>();
  if (!product)
    return rows == 1 && term.getDefiningOp<attn_gpu::WorkerIdOp>();
  Value worker = product.getLhs(), factor = product.getRhs();
  if (!worker.getDefiningOp<attn_gpu::WorkerIdOp>())
    std::swap(worker, factor);
  return worker.getDefiningOp<attn_gpu::WorkerIdOp>() &&
         getConstantIntValue(factor) == rows;
}

/// The indices of a read as worker 0 has them. `isShared` says that all workers
/// read the same; else each reads its part of the rows.
FailureOr<SmallVector<Value>>
CopyRewriter::getBlockIndices(vector::TransferReadOp read, bool &isShared) {
  SmallVector<Value> indices(read.getIndices());
  int64_t rows = read.getVectorType().getDimSize(0);
  unsigned rowDim =
      cast<AffineDimExpr>(read.getPermutationMap().getResult(0)).getPosition();
  isShared = true;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    SmallVector<Value> terms;
    collectWorkerTerms(index, read->getBlock(), terms);
    if (terms.empty())
      continue;
    isShared = false;
    if (dim != rowDim || terms.size() != 1 || !isWorkerRow(terms.front(), rows))
      return read.emitOpError()
             << "expected workers to read rows one after the other, but got an "
                "index that depends on the worker in another way";
    builder.setInsertionPoint(read);
    IRMapping mapping;
    mapping.map(terms.front(),
                arith::ConstantIndexOp::create(builder, loc, 0).getResult());
    index = rematerialize(builder, index, read->getBlock(), mapping);
  }
  return indices;
}

/// The last op of `block` that uses `value`, itself or inside.
static Operation *getLastUser(Value value, Block *block) {
  Operation *last = value.getDefiningOp();
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor && last->isBeforeInBlock(ancestor))
      last = ancestor;
  }
  return last;
}

/// Starts the copy of what `read` reads, by whoever copies in this style.
void CopyRewriter::createLoad(vector::TransferReadOp read,
                              ValueRange coordinates, Value channel,
                              Value slot) {
  AffineMap map = read.getPermutationMap();
  int64_t rowDim = cast<AffineDimExpr>(map.getResult(0)).getPosition();
  if (schedule.getStyle() == Style::FA2) {
    attn_gpu::CooperativeLoadOp::create(builder, loc, read.getBase(),
                                        coordinates, rowDim, channel, slot);
    return;
  }
  auto type = cast<attn_gpu::ChannelType>(channel.getType());
  SmallVector<int64_t> box(map.getNumDims(), 1);
  box[rowDim] = type.getShape()[0];
  box.back() = kPanelBytes * 8 / type.getElementType().getIntOrFloatBitWidth();
  Value tensorMap = getTensorMap(read.getBase(), box, type.getElementType());
  attn_gpu::TMALoadOp::create(builder, loc, tensorMap, coordinates, channel,
                              slot);
}

/// Checks that `read` is a tile that a copy can bring.
LogicalResult CopyRewriter::check(vector::TransferReadOp read) {
  auto memref = dyn_cast<BlockArgument>(read.getBase());
  AffineMap map = read.getPermutationMap();
  auto row = dyn_cast<AffineDimExpr>(map.getResult(0));
  auto column = dyn_cast<AffineDimExpr>(map.getResult(1));
  if (!memref || memref.getOwner() != &kernel.getBody().front() || !row ||
      !column || column.getPosition() != map.getNumDims() - 1)
    return read.emitOpError()
           << "expected a tile of a kernel argument whose columns run along "
              "its last dimension";
  if (!cast<MemRefType>(memref.getType()).isLastDimUnitStride())
    return read.emitOpError()
           << "expected columns without gaps, but got " << memref.getType();
  if (read->getParentOp() != blockLoop &&
      !iterationCounts.contains(read->getParentOp()))
    return read.emitOpError()
           << "expected to be in the loop over tiles or in a tile loop";
  return success();
}

LogicalResult CopyRewriter::rewrite(vector::TransferReadOp read) {
  bool isShared = true;
  if (failed(check(read)))
    return failure();
  FailureOr<SmallVector<Value>> coordinates = getBlockIndices(read, isShared);
  if (failed(coordinates))
    return failure();
  auto tileLoop = dyn_cast<TileLoopOp>(read->getParentOp());
  VectorType type = read.getVectorType();
  int64_t rows = type.getDimSize(0);
  int64_t blockRows = isShared ? rows : rows * schedule.getWorkers();

  auto layout =
      attn_gpu::PanelsAttr::get(builder.getContext(), blockRows, kPanelBytes);
  Type element = type.getElementType();
  auto channelType = attn_gpu::ChannelType::get(
      builder.getContext(), {blockRows, type.getDimSize(1)}, element,
      tileLoop ? schedule.getStages() : schedule.getQueryStages(), layout);
  builder.setInsertionPoint(blockLoop);
  Value channel = attn_gpu::ChannelOp::create(builder, loc, channelType,
                                              schedule.getWorkers());

  builder.setInsertionPoint(read);
  Value slot = gridCount;
  if (tileLoop)
    slot = arith::AddIOp::create(builder, loc, iterationCounts.lookup(tileLoop),
                                 tileLoop.getIteration());
  createLoad(read, *coordinates, channel, slot);
  Value tile = attn_gpu::ReceiveOp::create(builder, loc, channel, slot);
  if (!isShared) {
    Value worker =
        attn_gpu::WorkerIdOp::create(builder, loc, builder.getIndexType());
    Value first = arith::MulIOp::create(
        builder, loc, worker,
        arith::ConstantIndexOp::create(builder, loc, rows));
    auto mine = attn_gpu::TileType::get(builder.getContext(), type.getShape(),
                                        element, layout);
    tile = attn_gpu::SubtileOp::create(builder, loc, mine, tile, first);
  }
  Value values = attn_gpu::TileValueOp::create(builder, loc, type, tile);
  read.replaceAllUsesWith(values);
  builder.setInsertionPointAfter(getLastUser(values, read->getBlock()));
  attn_gpu::ReleaseOp::create(builder, loc, channel, slot);
  read.erase();
  return success();
}

LogicalResult CopyRewriter::run() {
  if (failed(findLoops()))
    return failure();
  carryCounts();
  SmallVector<vector::TransferReadOp> reads;
  kernel.walk([&](vector::TransferReadOp read) {
    if (read.getVectorType().getRank() == 2 &&
        llvm::all_of(read->getUsers(), llvm::IsaPred<vector::ContractionOp>))
      reads.push_back(read);
  });
  for (vector::TransferReadOp read : reads)
    if (failed(rewrite(read)))
      return failure();
  return success();
}

namespace {

struct AttnAsyncCopies : attn::impl::AttnAsyncCopiesPassBase<AttnAsyncCopies> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (!schedule || schedule.getStyle() == Style::Host)
      return;
    if (failed(CopyRewriter(getOperation(), schedule).run()))
      signalPassFailure();
  }
};

} // namespace
