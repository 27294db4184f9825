//===- ParkValues.cpp - Scalars that wait in shared memory ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// %row = ...                    %row = ...
//                               store %row in the warp's slot
// for ... { mma_async }    ->   for ... { mma_async }
//                               %again = load from the warp's slot
// use(%row)                     use(%again)
//
// In the key loops of mma.sync a thread needs every register it can name, and
// the assembler would put into local memory what outlives them. Shared memory
// holds such a value once a warp, not once a thread. All that has type index is
// equal over a worker, so lanes write the same value; only a lane of the tile
// before, which may still read, must be waited for.
//
// What the next tile is computed from stays: the assembler would no longer know
// that it is equal over a warp, and take all that depends on it, loops
// included, for divergent. That costs a tenth of the kernel's time.
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/ParkValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// Bytes of a number.
static constexpr int64_t kSlotBytes = 4;
static constexpr int64_t kMaxParked = kParkedBytesPerWarp / kSlotBytes;

static bool multiplies(Operation &op) {
  return isa<scf::ForOp>(op) && op.walk([](MMAAsyncOp) {
                                    return WalkResult::interrupt();
                                  }).wasInterrupted();
}

namespace {

/// The key loops of one block, first and last.
struct KeyLoops {
  Operation *first = nullptr;
  Operation *last = nullptr;
};

} // namespace

static KeyLoops findKeyLoops(Block &block) {
  KeyLoops loops;
  for (Operation &op : block) {
    if (!multiplies(op))
      continue;
    loops.first = loops.first ? loops.first : &op;
    loops.last = &op;
  }
  return loops;
}

/// The ops of the block that compute what its terminator hands on.
static llvm::SetVector<Operation *> findHandingOn(Block &block) {
  llvm::SetVector<Operation *> ops;
  ops.insert(block.getTerminator());
  for (size_t i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && isPure(op))
        ops.insert(op);
  return ops;
}

/// Uses of `value` behind `last`, in its block or deeper, but for `others`.
static SmallVector<OpOperand *>
findUsesBehind(Value value, Operation *last,
               const llvm::SetVector<Operation *> &others) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses()) {
    Operation *ancestor =
        last->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (ancestor && last->isBeforeInBlock(ancestor) &&
        !others.contains(use.getOwner()))
      uses.push_back(&use);
  }
  return uses;
}

/// What `block` has computed, or was given, in front of `first`.
static SmallVector<Value> findNumbers(Block &block, Operation *first) {
  SmallVector<Value> numbers;
  auto include = [&](ValueRange values) {
    for (Value value : values)
      if (value.getType().isIndex() &&
          !value.getDefiningOp<arith::ConstantOp>())
        numbers.push_back(value);
  };
  include(block.getArguments());
  for (Operation &op : llvm::make_range(block.begin(), first->getIterator()))
    include(op.getResults());
  return numbers;
}

/// The first slot of the warp.
static Value createWarpSlots(ImplicitLocOpBuilder &b, const Kernel &kernel,
                             int64_t place) {
  Value warp = LLVM::LShrOp::create(b, kernel.thread,
                                    createI32(b, llvm::Log2_64(kWarpSize)));
  Value offset =
      LLVM::MulOp::create(b, warp, createI32(b, kParkedBytesPerWarp));
  Value start = LLVM::AddOp::create(b, kernel.sharedBase, createI32(b, place));
  return toSharedPointer(b, LLVM::AddOp::create(b, start, offset));
}

/// The slot of number `number`, a constant away from the first.
static Value createSlot(ImplicitLocOpBuilder &b, Value slots, int64_t number) {
  return LLVM::GEPOp::create(
      b, slots.getType(), b.getI32Type(), slots,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
}

static void parkAround(const KeyLoops &loops, const Kernel &kernel,
                       int64_t place) {
  ImplicitLocOpBuilder before(loops.first->getLoc(), loops.first);
  ImplicitLocOpBuilder behind(loops.last->getLoc(), loops.last->getBlock(),
                              std::next(loops.last->getIterator()));
  NVVM::SyncWarpOp::create(before, createI32(before, -1));
  Value to = createWarpSlots(before, kernel, place);
  Value from = createWarpSlots(behind, kernel, place);
  Type i32 = before.getI32Type();
  llvm::SetVector<Operation *> handingOn =
      findHandingOn(*loops.first->getBlock());
  int64_t number = 0;
  for (Value value : findNumbers(*loops.first->getBlock(), loops.first)) {
    SmallVector<OpOperand *> uses =
        findUsesBehind(value, loops.last, handingOn);
    if (uses.empty())
      continue;
    if (number == kMaxParked)
      return;
    // Volatile, or the assembler might keep the register instead.
    Value narrow = arith::IndexCastOp::create(before, i32, value);
    LLVM::StoreOp::create(before, narrow, createSlot(before, to, number),
                          kSlotBytes, /*isVolatile=*/true);
    Value again =
        LLVM::LoadOp::create(behind, i32, createSlot(behind, from, number),
                             kSlotBytes, /*isVolatile=*/true);
    Value wide =
        arith::IndexCastOp::create(behind, behind.getIndexType(), again);
    for (OpOperand *use : uses)
      use->set(wide);
    ++number;
  }
}

/// The number of `loop` in trip `trip`.
static Value numberOf(OpBuilder &b, Location loc, scf::ForOp loop, Value trip) {
  Value way = arith::MulIOp::create(b, loc, trip, loop.getStep());
  return arith::AddIOp::create(b, loc, loop.getLowerBound(), way);
}

/// Turns `loop` into one that counts its trips and computes its number from
/// them: a count of trips is plainly equal over a warp, and waits in a uniform
/// register. Returns the body.
static Block *countTrips(scf::ForOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<Value> inits{arith::ConstantIndexOp::create(b, 0)};
  llvm::append_range(inits, loop.getInitArgs());
  auto whileOp = scf::WhileOp::create(
      b, ValueRange(inits).getTypes(), inits,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        Value more = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::slt,
            numberOf(nested, loc, loop, arguments.front()),
            loop.getUpperBound());
        scf::ConditionOp::create(nested, loc, more, arguments);
      },
      [](OpBuilder &, Location, ValueRange) {});
  Block *body = whileOp.getAfterBody();
  Operation *yield = loop.getBody()->getTerminator();
  b.setInsertionPoint(yield);
  SmallVector<Value> next{arith::AddIOp::create(
      b, body->getArgument(0), arith::ConstantIndexOp::create(b, 1))};
  llvm::append_range(next, yield->getOperands());
  scf::YieldOp::create(b, next);
  yield->erase();
  b.setInsertionPointToStart(body);
  Value number = numberOf(b, loop.getLoc(), loop, body->getArgument(0));
  loop.getInductionVar().replaceAllUsesWith(number);
  for (auto [from, to] : llvm::zip_equal(loop.getRegionIterArgs(),
                                         body->getArguments().drop_front()))
    from.replaceAllUsesWith(to);
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  loop.replaceAllUsesWith(whileOp.getResults().drop_front());
  loop.erase();
  return body;
}

void mlir::attn_gpu::parkValues(gpu::GPUFuncOp function, Kernel &kernel) {
  if (!kernel.spillsIndices || kernel.warpsPerWorker != 1 ||
      kernel.channels.empty())
    return;
  // Its own number is the one thing of type index that differs between lanes.
  if (function.walk([](gpu::ThreadIdOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return;
  SmallVector<scf::ForOp> tileLoops;
  for (auto loop : function.getBody().getOps<scf::ForOp>())
    if (findKeyLoops(*loop.getBody()).first)
      tileLoops.push_back(loop);
  if (tileLoops.empty())
    return;
  // One place for all: numbers live as long as one tile.
  int64_t place = kernel.sharedBytes;
  kernel.sharedBytes += kernel.numThreads / kWarpSize * kParkedBytesPerWarp;
  for (scf::ForOp loop : tileLoops)
    parkAround(findKeyLoops(*countTrips(loop)), kernel, place);
}
