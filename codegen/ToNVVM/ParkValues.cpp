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
// Vectors of indices differ between lanes and are computed again where they are
// used, in the loops too, from such values. In the loops the coordinates of
// copies wait as well: one load an iteration, far from where it is needed. Not
// in loops that overlap: at head dim 64 that costs 4 % of the time, and they do
// not need the registers.
//
// The assembler does not know that what it loads is equal over a warp, and
// takes all that depends on it, loops included, for divergent. For what the
// next tile is computed from that costs a tenth of the kernel's time, so such a
// value goes through a reduction over the warp, whose result is plainly equal.
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/ParkValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// Bytes of a number.
static constexpr int64_t kSlotBytes = 4;
static constexpr int64_t kMaxParked = kParkedBytesPerWarp / kSlotBytes;

/// Whether `op` is a key loop, or the condition that loops which overlap stand
/// under.
static bool multiplies(Operation &op) {
  return isa<scf::ForOp, scf::IfOp>(op) && op.walk([](MMAAsyncOp) {
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

/// The ops of the block that compute what its terminator yields.
static llvm::SetVector<Operation *> findYielding(Block &block) {
  llvm::SetVector<Operation *> ops;
  ops.insert(block.getTerminator());
  for (size_t i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && isPure(op))
        ops.insert(op);
  return ops;
}

/// Where in the block of the loops an op stands, itself or what it is in.
enum class Place { InFront, Inside, Behind };

static Place findPlace(Operation *op, const KeyLoops &loops) {
  Operation *ancestor = loops.first->getBlock()->findAncestorOpInBlock(*op);
  if (ancestor->isBeforeInBlock(loops.first))
    return Place::InFront;
  return loops.last->isBeforeInBlock(ancestor) ? Place::Behind : Place::Inside;
}

/// Uses of `value` at `place`.
static SmallVector<OpOperand *> findUses(Value value, Place place,
                                         const KeyLoops &loops) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (findPlace(use.getOwner(), loops) == place)
      uses.push_back(&use);
  return uses;
}

/// Whether the key loops overlap: those stand under a condition.
static bool overlap(const KeyLoops &loops) {
  return isa<scf::IfOp>(loops.first);
}

/// Uses of `value` in the loops.
static SmallVector<OpOperand *> findUsesInside(Value value,
                                               const KeyLoops &loops) {
  if (overlap(loops))
    return {};
  return findUses(value, Place::Inside, loops);
}

/// Whether an op of a key loop can load what it uses here.
static bool canLoad(OpOperand *use) {
  if (auto load = dyn_cast<CooperativeLoadOp>(use->getOwner()))
    return llvm::is_contained(load.getCoordinates(), use->get());
  return isa<vector::BroadcastOp>(use->getOwner());
}

static bool isIndexVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getElementType().isIndex();
}

/// Computes vectors of indices again behind the loops, once, and in front of
/// their users in them, as far as they come from vectors, so that only scalars
/// are left to be kept.
static void rematerializeIndexVectors(const KeyLoops &loops) {
  Block *block = loops.first->getBlock();
  OpBuilder behind(block, std::next(loops.last->getIterator()));
  SmallVector<Operation *> ops;
  for (Operation &op :
       llvm::make_range(block->begin(), loops.first->getIterator()))
    if (op.getNumResults() == 1 && op.getNumRegions() == 0 && isPure(&op) &&
        isIndexVector(op.getResult(0).getType()))
      ops.push_back(&op);
  // Users first: their copies are uses of what they are computed from.
  for (Operation *op : llvm::reverse(ops)) {
    Value value = op->getResult(0);
    for (OpOperand *use : findUsesInside(value, loops)) {
      OpBuilder inside(use->getOwner());
      use->set(inside.clone(*op)->getResult(0));
    }
    SmallVector<OpOperand *> uses = findUses(value, Place::Behind, loops);
    if (uses.empty())
      continue;
    Operation *copy = behind.clone(*op);
    behind.setInsertionPoint(copy);
    for (OpOperand *use : uses)
      use->set(copy->getResult(0));
  }
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

namespace {

/// Stores values in front of the loops, and loads them where they are used.
class Parking {
public:
  Parking(const KeyLoops &loops, const Kernel &kernel, int64_t place)
      : loops(loops), kernel(kernel), place(place),
        yielding(findYielding(*loops.first->getBlock())) {}

  void park();

private:
  Value createSlot(ImplicitLocOpBuilder &b);
  Value load(ImplicitLocOpBuilder &b, bool isYielding);
  void store(Value value);
  void parkValue(Value value);

  KeyLoops loops;
  const Kernel &kernel;
  int64_t place;
  llvm::SetVector<Operation *> yielding;
  /// What loads stand in front of.
  Operation *firstBehind = nullptr;
  int64_t number = 0;
};

} // namespace

/// Slot number `number` of the warp.
Value Parking::createSlot(ImplicitLocOpBuilder &b) {
  Value warp = LLVM::LShrOp::create(b, kernel.thread,
                                    createI32(b, llvm::Log2_64(kWarpSize)));
  Value offset =
      LLVM::MulOp::create(b, warp, createI32(b, kParkedBytesPerWarp));
  Value start = LLVM::AddOp::create(b, kernel.sharedBase, createI32(b, place));
  Value slots = toSharedPointer(b, LLVM::AddOp::create(b, start, offset));
  return LLVM::GEPOp::create(
      b, slots.getType(), b.getI32Type(), slots,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
}

/// Volatile, or the assembler might keep the register instead.
void Parking::store(Value value) {
  ImplicitLocOpBuilder before(loops.first->getLoc(), loops.first);
  Value narrow = arith::IndexCastOp::create(before, before.getI32Type(), value);
  LLVM::StoreOp::create(before, narrow, createSlot(before), kSlotBytes,
                        /*isVolatile=*/true);
}

Value Parking::load(ImplicitLocOpBuilder &b, bool isYielding) {
  Value again = LLVM::LoadOp::create(b, b.getI32Type(), createSlot(b),
                                     kSlotBytes, /*isVolatile=*/true);
  if (isYielding)
    again = NVVM::ReduxOp::create(b, b.getI32Type(), again, NVVM::ReduxKind::OR,
                                  createI32(b, -1));
  return arith::IndexCastOp::create(b, b.getIndexType(), again);
}

void Parking::parkValue(Value value) {
  SmallVector<OpOperand *> inside = findUsesInside(value, loops);
  llvm::erase_if(inside, [](OpOperand *use) { return !canLoad(use); });
  SmallVector<OpOperand *> behind = findUses(value, Place::Behind, loops);
  if ((inside.empty() && behind.empty()) || number == kMaxParked)
    return;
  store(value);
  for (OpOperand *use : inside) {
    ImplicitLocOpBuilder b(loops.first->getLoc(), use->getOwner());
    use->set(load(b, /*isYielding=*/false));
  }
  if (!behind.empty()) {
    ImplicitLocOpBuilder b(loops.last->getLoc(), firstBehind);
    Value again = load(b, llvm::any_of(behind, [&](OpOperand *use) {
                         return yielding.contains(use->getOwner());
                       }));
    for (OpOperand *use : behind)
      use->set(again);
  }
  ++number;
}

void Parking::park() {
  rematerializeIndexVectors(loops);
  firstBehind = loops.last->getNextNode();
  SmallVector<Value> values =
      findNumbers(*loops.first->getBlock(), loops.first);
  ImplicitLocOpBuilder before(loops.first->getLoc(), loops.first);
  NVVM::SyncWarpOp::create(before, createI32(before, -1));
  for (Value value : values)
    parkValue(value);
}

/// The number of `loop` in trip `trip`.
static Value numberOf(OpBuilder &b, Location loc, scf::ForOp loop, Value trip) {
  Value way = arith::MulIOp::create(b, loc, trip, loop.getStep());
  return arith::AddIOp::create(b, loc, loop.getLowerBound(), way);
}

/// Whether the loop carries the count of its trips as `argument`.
static bool countsTrips(scf::ForOp loop, BlockArgument argument) {
  Value yielded = loop.getTiedLoopYieldedValue(argument)->get();
  auto next = yielded.getDefiningOp<arith::AddIOp>();
  return isConstantIntValue(loop.getTiedLoopInit(argument)->get(), 0) && next &&
         next.getLhs() == argument && isConstantIntValue(next.getRhs(), 1);
}

/// Turns `loop` into one that counts its trips and computes its number from
/// them: a count of trips is plainly equal over a warp, and waits in a uniform
/// register. What is such a count already, as the slot of a tile of Q, takes no
/// register of its own. Returns the body.
static Block *countTrips(scf::ForOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  SmallVector<bool> isCount = llvm::map_to_vector(
      loop.getRegionIterArgs(),
      [&](BlockArgument argument) { return countsTrips(loop, argument); });
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
  for (auto [from, to, counts] :
       llvm::zip_equal(loop.getRegionIterArgs(),
                       body->getArguments().drop_front(), isCount))
    from.replaceAllUsesWith(counts ? body->getArgument(0) : to);
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
    Parking(findKeyLoops(*countTrips(loop)), kernel, place).park();
}
