//===- MapToGPU.cpp - attn-map-to-gpu -------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// func @f { tile_grid (b, h, q, w) { ... } }
//   ->  gpu.func @f { for t = block to tiles step grid { b, h, q = t; w = me }
//   }
//
// The order of tiles. Heads (batch and head together) are taken in sections
// whose keys and values fit in the second-level cache; within a section all
// heads' longest tiles come first where tiles differ in length. Without that,
// a head's query tiles follow each other, from one on that moves from round to
// round of the grid: the last one may have fewer rows, and would else fall to
// the same blocks in every round.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNMAPTOGPUPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static constexpr int64_t kThreadsPerWarp = 32;
static constexpr int64_t kRowsPerWarp = 16;

namespace {

/// Builds the kernel of one function.
class KernelBuilder {
public:
  KernelBuilder(func::FuncOp func, TileGridOp tiles, gpu::GPUModuleOp module)
      : func(func), tiles(tiles), schedule(tiles.getScheduleAttr()),
        builder(OpBuilder::atBlockEnd(module.getBody())), loc(func.getLoc()) {}

  void build();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value mul(Value a, Value b) {
    return arith::MulIOp::create(builder, loc, a, b);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivUIOp::create(builder, loc, a, b);
  }
  Value rem(Value a, Value b) {
    return arith::RemUIOp::create(builder, loc, a, b);
  }
  Value min(Value a, Value b) {
    return arith::MinSIOp::create(builder, loc, a, b);
  }
  Value max(Value a, Value b) {
    return arith::MaxSIOp::create(builder, loc, a, b);
  }

  gpu::GPUFuncOp createFunction();
  Value headsPerSection();
  Value turnEveryOtherRound(Value tile, Value grid, Value numTiles);
  void mapTileNumber(Value tile, Value grid, ArrayRef<Value> bounds);
  std::pair<Value, Value> splitByHead(Value tile, Value grid, Value rowTiles);
  std::pair<Value, Value> splitBySection(Value tile, Value rowTiles);
  void cloneTiles();

  func::FuncOp func;
  TileGridOp tiles;
  ScheduleAttr schedule;
  OpBuilder builder;
  Location loc;
  IRMapping mapping;
  Value numHeads;
  /// Heads of a section, and its tiles; only where tiles differ in length.
  Value section, perSection;
};

} // namespace

gpu::GPUFuncOp KernelBuilder::createFunction() {
  auto kernel = gpu::GPUFuncOp::create(builder, loc, func.getName(),
                                       func.getFunctionType());
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  // A warp takes its slabs of rows one after the other where it computes alone,
  // and shares them with its warpgroup where that computes as one.
  int64_t warps = schedule.getStyle() == Style::FA2
                      ? 1
                      : schedule.getRowsPerWorker() / kRowsPerWarp;
  int64_t groups = schedule.getWorkers() + (schedule.getStyle() == Style::FA3);
  kernel.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(
      {static_cast<int32_t>(groups * warps * kThreadsPerWarp), 1, 1}));
  kernel->setAttr(attn_gpu::kWarpsPerWorkerAttr,
                  builder.getI64IntegerAttr(warps));
  kernel->setAttr(kScheduleAttr, schedule);
  return kernel;
}

/// How many heads' streamed tensors fit in a section: those that the loops of
/// a tile read, each of its whole length.
Value KernelBuilder::headsPerSection() {
  Value one = index(1);
  int64_t bytesPerRow = 0;
  Value length;
  llvm::SmallPtrSet<Value, 4> seen;
  tiles.walk([&](vector::TransferReadOp read) {
    if (!read->getParentOfType<TileLoopOp>() ||
        !seen.insert(read.getBase()).second)
      return;
    VectorType type = read.getVectorType();
    bytesPerRow += type.getDimSize(1) * type.getElementTypeBitWidth() / 8;
    auto row = dyn_cast<AffineDimExpr>(read.getPermutationMap().getResult(0));
    if (!length && row)
      length = memref::DimOp::create(
          builder, loc, mapping.lookup(read.getBase()), row.getPosition());
  });
  if (!length)
    return one;
  Value fitting =
      div(index(schedule.getSectionBytes() / bytesPerRow), max(length, one));
  return max(min(fitting, numHeads), one);
}

/// Every other round of a persistent grid goes through its tiles backwards:
/// with tiles in order of length, the block that got the longest of one round
/// gets the shortest of the next.
Value KernelBuilder::turnEveryOtherRound(Value tile, Value grid,
                                         Value numTiles) {
  if (!schedule.getDescending() || !schedule.getPersistent())
    return tile;
  Value round = div(tile, grid);
  Value first = mul(round, grid);
  Value size = min(grid, sub(numTiles, first));
  Value last = sub(add(first, size), index(1));
  Value turned = sub(last, sub(tile, first));
  Value isOdd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      rem(round, index(2)), index(1));
  return arith::SelectOp::create(builder, loc, isOdd, turned, tile);
}

/// Head and query tile where the tiles of a head follow each other.
std::pair<Value, Value> KernelBuilder::splitByHead(Value tile, Value grid,
                                                   Value rowTiles) {
  Value head = div(tile, rowTiles);
  Value firstTile = mul(head, rowTiles);
  Value round = div(firstTile, grid);
  return {head, rem(add(sub(tile, firstTile), round), rowTiles)};
}

/// Head and query tile where the longest tiles of a section come first.
std::pair<Value, Value> KernelBuilder::splitBySection(Value tile,
                                                      Value rowTiles) {
  Value sectionNumber = div(tile, perSection);
  Value inSection = rem(tile, perSection);
  Value firstHead = mul(sectionNumber, section);
  // The last section may have fewer heads.
  Value heads = min(section, sub(numHeads, firstHead));
  Value rowTile = div(inSection, heads);
  Value head = add(firstHead, rem(inSection, heads));
  return {head, sub(sub(rowTiles, index(1)), rowTile)};
}

/// Maps batch, head and tile of the grid to parts of `tile`.
void KernelBuilder::mapTileNumber(Value tile, Value grid,
                                  ArrayRef<Value> bounds) {
  auto [head, rowTile] = schedule.getDescending()
                             ? splitBySection(tile, bounds[2])
                             : splitByHead(tile, grid, bounds[2]);
  mapping.map(tiles.getBatch(), div(head, bounds[1]));
  mapping.map(tiles.getHead(), rem(head, bounds[1]));
  mapping.map(tiles.getTile(), rowTile);
}

/// Clones the body of the grid, for this worker.
void KernelBuilder::cloneTiles() {
  Value worker =
      attn_gpu::WorkerIdOp::create(builder, loc, builder.getIndexType());
  mapping.map(tiles.getWorker(), worker);
  for (Operation &op : tiles.getBody().front().without_terminator())
    builder.clone(op, mapping);
}

void KernelBuilder::build() {
  gpu::GPUFuncOp kernel = createFunction();
  mapping.map(func.getArguments(), kernel.getArguments());
  builder.setInsertionPointToStart(&kernel.getBody().front());
  for (Operation &op : *tiles->getBlock()) {
    if (&op == tiles.getOperation())
      break;
    builder.clone(op, mapping);
  }

  SmallVector<Value> bounds;
  for (Value extent : tiles.getExtents())
    bounds.push_back(mapping.lookupOrDefault(extent));
  numHeads = mul(bounds[0], bounds[1]);
  Value numTiles = mul(numHeads, bounds[2]);
  if (schedule.getDescending()) {
    section = headsPerSection();
    perSection = mul(section, bounds[2]);
  }
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value grid = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
  auto loop = scf::ForOp::create(builder, loc, block, numTiles, grid);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  mapTileNumber(turnEveryOtherRound(loop.getInductionVar(), grid, numTiles),
                grid, bounds);
  cloneTiles();
  builder.setInsertionPointAfter(loop);
  gpu::ReturnOp::create(builder, loc);
}

/// The grid of tiles that a function has for a GPU, or null.
static TileGridOp getTileGrid(func::FuncOp func) {
  TileGridOp found;
  func.walk([&](TileGridOp grid) {
    ScheduleAttr schedule = grid.getScheduleAttr();
    if (!schedule || schedule.getStyle() == Style::Host)
      return WalkResult::advance();
    found = grid;
    return WalkResult::interrupt();
  });
  return found;
}

/// Checks that `func` does nothing but run `tiles`: a kernel has no place for
/// what comes before or after, and nobody to give a result to.
static LogicalResult checkFunction(func::FuncOp func, TileGridOp tiles) {
  if (tiles->getParentOp() != func)
    return tiles.emitOpError() << "expected to be at the top level of a "
                                  "function";
  ScheduleAttr schedule = tiles.getScheduleAttr();
  for (int64_t extent : {schedule.getRowsPerWorker(), schedule.getKeys()})
    if (extent % kRowsPerWarp != 0)
      return tiles.emitOpError()
             << "expected rows per worker and keys to be multiples of "
             << kRowsPerWarp << ", but got " << extent;
  if (func.getNumResults() != 0)
    return func.emitOpError()
           << "expected no results, but got " << func.getNumResults();
  for (Operation &op : *tiles->getBlock())
    if (&op != tiles && !isa<func::ReturnOp>(op) && !isMemoryEffectFree(&op))
      return op.emitOpError() << "expected no effects beside the one grid of "
                                 "tiles";
  std::optional<SymbolTable::UseRange> uses =
      func.getSymbolUses(func->getParentOp());
  if (uses && !uses->empty())
    return func.emitOpError() << "expected no calls of a function that becomes "
                                 "a kernel";
  return success();
}

namespace {

struct AttnMapToGPU : attn::impl::AttnMapToGPUPassBase<AttnMapToGPU> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    gpu::GPUModuleOp gpuModule;
    for (auto func :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      TileGridOp tiles = getTileGrid(func);
      if (!tiles)
        continue;
      if (failed(checkFunction(func, tiles)))
        return signalPassFailure();
      if (!gpuModule) {
        // Under another name where there is a symbol of this one already.
        OpBuilder builder(module.getContext());
        gpuModule = gpu::GPUModuleOp::create(builder, func.getLoc(), "kernels");
        symbols.insert(gpuModule, module.getBody()->end());
      }
      KernelBuilder(func, tiles, gpuModule).build();
      func.erase();
    }
  }
};

} // namespace
