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
// Slot numbers are running counts over all tiles of a block: the tile loop
// carries how many query tiles and how many key tiles came before.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/ScheduleLimits.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

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
  void findRoles(ArrayRef<vector::TransferReadOp> reads);
  Value getChannel(vector::TransferReadOp read, attn_gpu::ChannelType type);
  Value getTensorMap(Value memref, ArrayRef<int64_t> box, Type element);
  std::optional<SmallVector<Value>> matchWorkerRow(vector::TransferReadOp read);
  void createLoad(vector::TransferReadOp read, ValueRange coordinates,
                  Value channel, Value slot);
  LogicalResult rewrite(vector::TransferReadOp read);

  gpu::GPUFuncOp kernel;
  ScheduleAttr schedule;
  OpBuilder builder;
  Location loc;
  scf::ForOp tileLoop;
  /// The loops over key tiles, in order.
  SmallVector<scf::ForOp> keyLoops;
  Value queryCount, keyCount;
  /// One channel per tensor and role, so that the key loops share it. A tensor
  /// read for several roles, say as keys and values, has several.
  llvm::DenseMap<std::pair<Value, unsigned>, Value> channels;
  llvm::DenseMap<Operation *, unsigned> roles;
};

} // namespace

/// Finds the tile loop and checks that the key loops count visits without gaps.
LogicalResult CopyRewriter::findLoops() {
  for (auto loop : kernel.getBody().getOps<scf::ForOp>()) {
    if (tileLoop)
      return kernel.emitOpError() << "expected one loop over tiles";
    tileLoop = loop;
  }
  if (!tileLoop || tileLoop.getNumResults() != 0)
    return kernel.emitOpError() << "expected a loop over tiles that carries "
                                   "nothing";
  keyLoops = llvm::to_vector(tileLoop.getBody()->getOps<scf::ForOp>());
  Value end;
  for (scf::ForOp loop : keyLoops) {
    bool follows = end ? loop.getLowerBound() == end
                       : matchPattern(loop.getLowerBound(), m_Zero());
    if (!follows || !matchPattern(loop.getStep(), m_One()))
      return loop.emitOpError() << "expected key loops to follow each other "
                                   "from 0 in steps of 1";
    end = loop.getUpperBound();
  }
  return success();
}

/// Makes the tile loop carry the running counts of query and key tiles.
void CopyRewriter::carryCounts() {
  builder.setInsertionPoint(tileLoop);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  IRRewriter rewriter(builder);
  auto replaced = cast<scf::ForOp>(*tileLoop.replaceWithAdditionalYields(
      rewriter, {zero, zero}, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &nested, Location loc,
          ArrayRef<BlockArgument> counts) -> SmallVector<Value> {
        Value one = arith::ConstantIndexOp::create(nested, loc, 1);
        Value queries = arith::AddIOp::create(nested, loc, counts[0], one);
        Value keys = counts[1];
        if (!keyLoops.empty())
          keys = arith::AddIOp::create(nested, loc, keys,
                                       keyLoops.back().getUpperBound());
        return {queries, keys};
      }));
  tileLoop = replaced;
  queryCount = tileLoop.getRegionIterArg(0);
  keyCount = tileLoop.getRegionIterArg(1);
  keyLoops = llvm::to_vector(tileLoop.getBody()->getOps<scf::ForOp>());
}

/// Numbers the reads of a tensor within each block, apart for key loops.
void CopyRewriter::findRoles(ArrayRef<vector::TransferReadOp> reads) {
  llvm::DenseMap<std::pair<Value, Block *>, unsigned> counts;
  for (vector::TransferReadOp read : reads) {
    bool inKeyLoop = read->getBlock() != tileLoop.getBody();
    roles[read] = 2 * counts[{read.getBase(), read->getBlock()}]++ + inKeyLoop;
  }
}

/// The channel of a tensor's tiles, which its reads in several loops share.
Value CopyRewriter::getChannel(vector::TransferReadOp read,
                               attn_gpu::ChannelType type) {
  Value &channel = channels[{read.getBase(), roles.lookup(read)}];
  if (!channel) {
    builder.setInsertionPoint(tileLoop);
    channel =
        attn_gpu::ChannelOp::create(builder, loc, type, schedule.getWorkers());
  }
  return channel;
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

/// The indices of a read as worker 0 has them, if only its row depends on the
/// worker, and that as `x + worker * rows`.
std::optional<SmallVector<Value>>
CopyRewriter::matchWorkerRow(vector::TransferReadOp read) {
  SmallVector<Value> indices(read.getIndices());
  int64_t rows = read.getVectorType().getDimSize(0);
  for (Value &index : indices) {
    auto sum = index.getDefiningOp<arith::AddIOp>();
    auto offset =
        sum ? sum.getRhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
    if (!offset || !offset.getLhs().getDefiningOp<attn_gpu::WorkerIdOp>())
      continue;
    if (getConstantIntValue(offset.getRhs()) != rows)
      return std::nullopt;
    index = sum.getLhs();
    return indices;
  }
  return std::nullopt;
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

LogicalResult CopyRewriter::rewrite(vector::TransferReadOp read) {
  VectorType type = read.getVectorType();
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

  auto keyLoop = dyn_cast<scf::ForOp>(read->getParentOp());
  bool inKeyLoop = llvm::is_contained(keyLoops, keyLoop);
  if (!inKeyLoop && keyLoop != tileLoop)
    return read.emitOpError()
           << "expected to be in the loop over tiles or a loop over keys";
  std::optional<SmallVector<Value>> ofBlock = matchWorkerRow(read);
  SmallVector<Value> coordinates =
      ofBlock ? *ofBlock : SmallVector<Value>(read.getIndices());
  int64_t rows = type.getDimSize(0);
  int64_t blockRows = ofBlock ? rows * schedule.getWorkers() : rows;

  auto layout =
      attn_gpu::PanelsAttr::get(builder.getContext(), blockRows, kPanelBytes);
  Type element = type.getElementType();
  auto channelType = attn_gpu::ChannelType::get(
      builder.getContext(), {blockRows, type.getDimSize(1)}, element,
      inKeyLoop ? schedule.getStages() : schedule.getQueryStages(), layout);
  Value channel = getChannel(read, channelType);

  builder.setInsertionPoint(read);
  Value slot = queryCount;
  if (inKeyLoop)
    slot = arith::AddIOp::create(builder, loc, keyCount,
                                 keyLoop.getInductionVar());
  createLoad(read, coordinates, channel, slot);
  Value tile = attn_gpu::ReceiveOp::create(builder, loc, channel, slot);
  if (ofBlock) {
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
  findRoles(reads);
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
