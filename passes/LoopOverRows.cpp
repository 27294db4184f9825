//===- LoopOverRows.cpp - attn-loop-over-rows -----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// %k = transfer_read : vector<NxD>       K = alloc; for key { K[..][key] = k }
// %s = contract %q, %k               ->  for row {
// %m = multi_reduction <max> %s            s = q * K            : vector<N>
// %p = exp2(%s * c - %m * c)               m = reduction <max> s
//                                          p = exp2(s * c - m * c)
//                                        }
//
// All ops between two inner loops share one loop over the rows of the tile;
// RowEmitter knows what each does for a row. What one such loop passes to
// another, and what a key loop carries, lies in memory that is allocated once a
// tile: MxN for a tile, M for a vector with one value per row.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNLOOPOVERROWSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Of the memory for tiles: a cache line of today's CPUs.
static constexpr int64_t kAlignment = 64;

static bool isVector(Value value) { return isa<VectorType>(value.getType()); }

/// Whether `op` itself computes with tiles.
static bool isTileOp(Operation *op) {
  return llvm::any_of(op->getOperands(), isVector) ||
         llvm::any_of(op->getResults(), isVector);
}

/// The rows of what the loop writes; none where it is no tile loop.
static std::optional<int64_t> getNumRows(scf::ForallOp loop) {
  for (auto write : loop.getBody()->getOps<vector::TransferWriteOp>())
    return write.getVectorType().getDimSize(0);
  return std::nullopt;
}

namespace {

/// A copy of every row of a value to memory.
struct Copy {
  Value from, buffer;
};

/// Lowers the body of one tile loop.
class TileLoop {
public:
  TileLoop(scf::ForallOp loop, int64_t numRows)
      : loop(loop), numRows(numRows), builder(loop.getContext()) {
    memory.allocate = [this](MemRefType type) { return allocate(type); };
  }

  LogicalResult lower();

private:
  Value allocate(MemRefType type);
  Value allocateRows(Value tile);
  LogicalResult checkProducts();
  LogicalResult lowerBlock(Block &block, ArrayRef<Copy> atEnd);
  LogicalResult lowerRows(ArrayRef<Operation *> ops, ArrayRef<Copy> copies);
  LogicalResult lowerKeyLoop(scf::ForOp old, SmallVectorImpl<Copy> &before,
                             SmallVectorImpl<Copy> &atEnd, scf::ForOp &result);
  bool isNeededElsewhere(Value value, ArrayRef<Operation *> ops,
                         ArrayRef<Copy> copies);

  scf::ForallOp loop;
  int64_t numRows;
  OpBuilder builder;
  RowMemory memory;
  /// All of it.
  SmallVector<Value> buffers;
  /// Reads of right operands of products, and their product.
  llvm::MapVector<Operation *, vector::ContractionOp> matrixReads;
  /// Ops that were lowered, none before what it uses.
  SmallVector<Operation *> lowered;
};

} // namespace

Value TileLoop::allocate(MemRefType type) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  return buffers.emplace_back(
      memref::AllocOp::create(builder, loop.getLoc(), type, ValueRange(),
                              builder.getI64IntegerAttr(kAlignment)));
}

/// Room for all rows of `tile`.
Value TileLoop::allocateRows(Value tile) {
  auto type = cast<VectorType>(tile.getType());
  return allocate(MemRefType::get(type.getShape(), type.getElementType()));
}

/// Finds the matrices, which must be read for the products alone.
LogicalResult TileLoop::checkProducts() {
  WalkResult result = loop.walk([&](vector::ContractionOp op) -> WalkResult {
    auto read = op.getRhs().getDefiningOp<vector::TransferReadOp>();
    if (!getProductKind(op) || !read || !op.getRhs().hasOneUse())
      return op.emitOpError() << "expected a * b or a * b^T with a b that is "
                                 "read for this product alone";
    matrixReads.insert({read, op});
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether a loop over rows with `ops` must leave `value` in memory.
bool TileLoop::isNeededElsewhere(Value value, ArrayRef<Operation *> ops,
                                 ArrayRef<Copy> copies) {
  bool isCopied = llvm::any_of(
      copies, [&](const Copy &copy) { return copy.from == value; });
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<scf::YieldOp, scf::ForOp>(user) ? !isCopied
                                               : !llvm::is_contained(ops, user);
  });
}

/// One loop over rows with `ops`, and then the copies.
LogicalResult TileLoop::lowerRows(ArrayRef<Operation *> ops,
                                  ArrayRef<Copy> copies) {
  if (ops.empty() && copies.empty())
    return success();
  Location loc = loop.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto rows =
      scf::ForOp::create(builder, loc, index(0), index(numRows), index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(rows.getBody());
  RowEmitter emitter(builder, memory, numRows, rows.getInductionVar());
  for (Operation *op : ops)
    if (failed(emitter.emit(op)))
      return failure();
  SmallVector<std::pair<Value, Value>> stores;
  auto add = [&](Value tile, Value buffer) {
    FailureOr<Value> value = emitter.get(tile);
    if (succeeded(value))
      stores.push_back({*value, buffer});
    return LogicalResult(value);
  };
  DenseMap<Value, Value> handedOn;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (!isCheapToRepeat(op) && isNeededElsewhere(result, ops, copies)) {
        handedOn[result] = allocateRows(result);
        if (failed(add(result, handedOn[result])))
          return failure();
      }
  for (const Copy &copy : copies)
    if (failed(add(copy.from, copy.buffer)))
      return failure();
  // Everything is read before anything is written.
  for (auto [value, buffer] : stores)
    emitter.store(value, buffer);
  for (auto [value, buffer] : handedOn)
    memory.rows[value] = buffer;
  return success();
}

/// A key loop whose tiles lie in memory; its body is yet to be lowered. What is
/// to be copied there in front of it and at its end.
LogicalResult TileLoop::lowerKeyLoop(scf::ForOp old,
                                     SmallVectorImpl<Copy> &before,
                                     SmallVectorImpl<Copy> &atEnd,
                                     scf::ForOp &result) {
  SmallVector<Value> scalars;
  for (Value init : old.getInitArgs())
    if (!isVector(init))
      scalars.push_back(init);
  if (!scalars.empty())
    return old.emitOpError() << "expected a loop in a tile loop to carry "
                                "tiles alone, but got "
                             << scalars.front().getType();
  for (auto [number, init] : llvm::enumerate(old.getInitArgs())) {
    // What a loop leaves to the next one alone stays where it is.
    bool isHandedOver = init.getDefiningOp<scf::ForOp>() && init.hasOneUse();
    Value buffer = isHandedOver ? memory.rows.lookup(init) : Value();
    if (!buffer) {
      buffer = allocateRows(init);
      before.push_back({init, buffer});
    }
    memory.rows[old.getRegionIterArg(number)] = buffer;
    memory.rows[old.getResult(number)] = buffer;
    atEnd.push_back({old.getYieldedValues()[number], buffer});
  }
  builder.setInsertionPoint(old);
  result = scf::ForOp::create(builder, old.getLoc(), old.getLowerBound(),
                              old.getUpperBound(), old.getStep());
  result->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  old.getInductionVar().replaceAllUsesWith(result.getInductionVar());
  Block &body = *old.getBody();
  result.getBody()->getOperations().splice(result.getBody()->begin(),
                                           body.getOperations(), body.begin(),
                                           std::prev(body.end()));
  return success();
}

/// Lowers what is in `block`, with copies of rows at its end.
LogicalResult TileLoop::lowerBlock(Block &block, ArrayRef<Copy> atEnd) {
  SmallVector<Operation *> ops;
  auto flush = [&](Operation *before, ArrayRef<Copy> copies) {
    builder.setInsertionPoint(before);
    LogicalResult result = lowerRows(ops, copies);
    llvm::append_range(lowered, ops);
    ops.clear();
    return result;
  };
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (auto product = matrixReads.lookup(&op)) {
      builder.setInsertionPoint(&op);
      memory.matrices[op.getResult(0)] =
          emitMatrix(builder, memory, cast<vector::TransferReadOp>(op),
                     getElementTypeOrSelf(product.getAcc().getType()),
                     getProductKind(product) == ProductKind::TransposedB);
      lowered.push_back(&op);
    } else if (auto old = dyn_cast<scf::ForOp>(op); old && isTileOp(old)) {
      SmallVector<Copy> before, end;
      scf::ForOp keyLoop;
      if (failed(lowerKeyLoop(old, before, end, keyLoop)) ||
          failed(flush(keyLoop, before)))
        return failure();
      lowered.push_back(old);
      if (failed(lowerBlock(*keyLoop.getBody(), end)))
        return failure();
      lowered.push_back(old.getBody()->getTerminator());
    } else if (op.getNumRegions() != 0) {
      return op.emitOpError() << "expected no regions in a tile loop but those "
                                 "of loops that carry tiles";
    } else if (isTileOp(&op)) {
      ops.push_back(&op);
    }
  }
  return flush(block.getTerminator(), atEnd);
}

LogicalResult TileLoop::lower() {
  if (failed(checkProducts()) || failed(lowerBlock(*loop.getBody(), {})))
    return failure();
  for (Operation *op : llvm::reverse(lowered))
    op->erase();
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  for (Value buffer : buffers)
    memref::DeallocOp::create(builder, loop.getLoc(), buffer);
  return success();
}

namespace {

struct AttnLoopOverRows
    : attn::impl::AttnLoopOverRowsPassBase<AttnLoopOverRows> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::ForallOp, int64_t>> loops;
    getOperation().walk([&](scf::ForallOp loop) {
      if (std::optional<int64_t> numRows = getNumRows(loop))
        loops.push_back({loop, *numRows});
    });
    for (auto [loop, numRows] : loops)
      if (failed(TileLoop(loop, numRows).lower()))
        return signalPassFailure();
  }
};

} // namespace
