//===- PrefetchCopies.cpp - attn-prefetch-copies --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for n { load K[n]; receive K[n]; ...; release K[n];
//         load V[n]; receive V[n]; ...; release V[n] }
//   ->  load K[0]
//       for n { receive K[n]; load V[n];     ...; release K[n];
//               receive V[n]; load K[n + 1]; ...; release V[n] }
//
// shown for rings of one slot. A slot is free once every worker has released
// it, so the copy that fills it again stands behind the next `receive`: that
// one waits for all threads anyhow, and the copy has until its own `receive`
// to arrive. With S slots it runs S visits ahead.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNPREFETCHCOPIESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;
using attn_gpu::CooperativeLoadOp;
using attn_gpu::ReceiveOp;
using attn_gpu::ReleaseOp;

namespace {

/// One channel's loads over the chain of loops, one a loop.
struct Stream {
  SmallVector<CooperativeLoadOp> loads;
  /// Visits between a load and its tile's use.
  int64_t lookahead;
  /// Per loop, the receive behind which the load goes.
  SmallVector<ReceiveOp> places;

  CooperativeLoadOp first() { return loads.front(); }
};

/// Prefetches for the key loops of one block.
class Prefetcher {
public:
  explicit Prefetcher(Block &block) : block(block) {}

  /// Says why not, or nothing.
  std::optional<StringRef> run();

private:
  bool findChain();
  bool findStreams();
  bool findPlaces(Stream &stream);
  void createLoad(OpBuilder &builder, Stream &stream, Value number);
  void createPrologue();
  void delayReceives();

  Block &block;
  SmallVector<scf::ForOp> loops;
  SmallVector<Stream> streams;
};

} // namespace

/// Loops that count visits one after the other, from the first on.
bool Prefetcher::findChain() {
  for (auto loop : block.getOps<scf::ForOp>())
    if (!loop.getBody()->getOps<CooperativeLoadOp>().empty())
      loops.push_back(loop);
  for (size_t i = 1; i < loops.size(); ++i)
    if (loops[i].getLowerBound() != loops[i - 1].getUpperBound())
      return false;
  return !loops.empty() &&
         getConstantIntValue(loops.front().getLowerBound()) == 0 &&
         llvm::all_of(loops, [](scf::ForOp loop) {
           return getConstantIntValue(loop.getStep()) == 1;
         });
}

/// Whether `a` in `aLoop` is to its visit what `b` in `bLoop` is to its own.
static bool isSameFunction(Value a, scf::ForOp aLoop, Value b,
                           scf::ForOp bLoop) {
  if (a == aLoop.getInductionVar() || b == bLoop.getInductionVar())
    return a == aLoop.getInductionVar() && b == bLoop.getInductionVar();
  if (a == b && !aLoop->isAncestor(a.getParentBlock()->getParentOp()))
    return true;
  Operation *aOp = a.getDefiningOp(), *bOp = b.getDefiningOp();
  return aOp && bOp && isMemoryEffectFree(aOp) && aOp->getNumRegions() == 0 &&
         aOp->getName() == bOp->getName() &&
         aOp->getAttrDictionary() == bOp->getAttrDictionary() &&
         cast<OpResult>(a).getResultNumber() ==
             cast<OpResult>(b).getResultNumber() &&
         aOp->getNumOperands() == bOp->getNumOperands() &&
         llvm::all_of(llvm::zip(aOp->getOperands(), bOp->getOperands()),
                      [&](auto pair) {
                        auto [x, y] = pair;
                        return isSameFunction(x, aLoop, y, bLoop);
                      });
}

/// Groups the loads by channel: all loops must load it, and the same way.
bool Prefetcher::findStreams() {
  for (auto load : loops.front().getBody()->getOps<CooperativeLoadOp>())
    streams.push_back({{load}, 0, {}});
  for (scf::ForOp loop : ArrayRef(loops).drop_front()) {
    auto loads = llvm::to_vector(loop.getBody()->getOps<CooperativeLoadOp>());
    if (loads.size() != streams.size())
      return false;
    for (auto [stream, load] : llvm::zip_equal(streams, loads))
      stream.loads.push_back(load);
  }
  for (Stream &stream : streams)
    for (auto [load, loop] : llvm::zip_equal(stream.loads, loops))
      for (auto [a, b] :
           llvm::zip_equal(stream.first()->getOperands(), load->getOperands()))
        if (!isSameFunction(a, loops.front(), b, loop))
          return false;
  return true;
}

/// The only op of type `OpTy` on `channel` in `body`, or null.
template <typename OpTy>
static OpTy findOnly(Block *body, Value channel) {
  OpTy found;
  for (auto op : body->getOps<OpTy>()) {
    if (op.getChannel() != channel)
      continue;
    if (found)
      return {};
    found = op;
  }
  return found;
}

/// The first receive behind the release, going around the loop.
bool Prefetcher::findPlaces(Stream &stream) {
  int64_t stages = stream.first().getChannel().getType().getStages();
  for (auto [load, loop] : llvm::zip_equal(stream.loads, loops)) {
    Block *body = loop.getBody();
    auto receive = findOnly<ReceiveOp>(body, load.getChannel());
    auto release = findOnly<ReleaseOp>(body, load.getChannel());
    if (!receive || !release || !receive->isBeforeInBlock(release) ||
        receive.getSlot() != load.getSlot() ||
        release.getSlot() != load.getSlot())
      return false;
    ReceiveOp place;
    int64_t lookahead = stages;
    for (auto next : body->getOps<ReceiveOp>())
      if (!place && release->isBeforeInBlock(next))
        place = next;
    if (!place) {
      place = *body->getOps<ReceiveOp>().begin();
      --lookahead;
    }
    // A load behind its own tile's receive would never arrive.
    if (lookahead == 0 && !place->isBeforeInBlock(receive))
      return false;
    if (!stream.places.empty() && lookahead != stream.lookahead)
      return false;
    stream.lookahead = lookahead;
    stream.places.push_back(place);
  }
  return true;
}

/// Loads the tile of visit `number`, if there is such a visit.
void Prefetcher::createLoad(OpBuilder &builder, Stream &stream, Value number) {
  CooperativeLoadOp load = stream.first();
  Location loc = load.getLoc();
  OpBuilder nested = builder;
  // A loop's own visit exists.
  if (!isa<BlockArgument>(number)) {
    Value exists =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number,
                              loops.back().getUpperBound());
    nested = scf::IfOp::create(builder, loc, exists).getThenBodyBuilder();
  }
  scf::ForOp loop = loops.front();
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return loop->isProperAncestor(op); };
  SetVector<Operation *> slice;
  (void)getBackwardSlice(load.getOperation(), &slice, options);
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), number);
  for (Operation *op : slice)
    nested.clone(*op, mapping);
}

/// The first visits' tiles, in the order of their use.
void Prefetcher::createPrologue() {
  OpBuilder builder(loops.front());
  Location loc = loops.front().getLoc();
  int64_t most = 0;
  for (Stream &stream : streams)
    most = std::max(most, stream.lookahead);
  for (int64_t number = 0; number < most; ++number)
    for (Stream &stream : streams)
      if (number < stream.lookahead)
        createLoad(builder, stream,
                   arith::ConstantIndexOp::create(builder, loc, number));
}

/// Moves what waits for tiles read in front of the loops behind the first
/// loads, so that all are on their way at once.
void Prefetcher::delayReceives() {
  Operation *loop = loops.front();
  for (auto receive : llvm::make_early_inc_range(block.getOps<ReceiveOp>())) {
    if (!receive->isBeforeInBlock(loop))
      break;
    SetVector<Operation *> waiting;
    getForwardSlice(receive.getOperation(), &waiting,
                    ForwardSliceOptions([&](Operation *op) {
                      return op->getBlock() == &block &&
                             op->isBeforeInBlock(loop);
                    }));
    if (llvm::any_of(waiting, [](Operation *op) { return !isPure(op); }))
      continue;
    waiting.insert(receive);
    SmallVector<Operation *> inOrder;
    for (Operation &op : block)
      if (waiting.contains(&op))
        inOrder.push_back(&op);
    for (Operation *op : inOrder)
      op->moveBefore(loop);
  }
}

std::optional<StringRef> Prefetcher::run() {
  if (!findChain())
    return "expected loops that count visits one after the other";
  if (!findStreams())
    return "expected the loops to load the same tiles of each visit";
  for (Stream &stream : streams)
    if (!findPlaces(stream))
      return "expected one receive and one release behind each load";
  createPrologue();
  delayReceives();
  for (Stream &stream : streams) {
    for (auto [loop, place] : llvm::zip_equal(loops, stream.places)) {
      OpBuilder builder(place->getContext());
      builder.setInsertionPointAfter(place);
      Value number = loop.getInductionVar();
      if (stream.lookahead > 0)
        number = arith::AddIOp::create(
            builder, place.getLoc(), number,
            arith::ConstantIndexOp::create(builder, place.getLoc(),
                                           stream.lookahead));
      createLoad(builder, stream, number);
    }
  }
  for (Stream &stream : streams)
    for (CooperativeLoadOp load : stream.loads)
      load.erase();
  return std::nullopt;
}

namespace {

struct AttnPrefetchCopies
    : attn::impl::AttnPrefetchCopiesPassBase<AttnPrefetchCopies> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    SetVector<Block *> blocks;
    kernel.walk([&](CooperativeLoadOp load) {
      if (auto loop = dyn_cast<scf::ForOp>(load->getParentOp()))
        if (isa<scf::ForOp>(loop->getParentOp()))
          blocks.insert(loop->getBlock());
    });
    for (Block *block : blocks)
      if (std::optional<StringRef> reason = Prefetcher(*block).run())
        kernel.emitRemark("not prefetched: ") << *reason;
  }
};

} // namespace
