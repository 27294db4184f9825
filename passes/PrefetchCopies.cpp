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
  /// The visit whose tile a trip reads, from the number of the trip: behind by
  /// one where the softmax of a visit overlaps the values of the one before.
  int64_t offset = 0;
  /// Trips between a load and its tile's use.
  int64_t lookahead = 0;
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
  bool findAnchor();
  bool isSameLoad(CooperativeLoadOp a, OpFoldResult aTrip, CooperativeLoadOp b,
                  scf::ForOp bLoop);
  bool findStreams();
  bool findPlaces(Stream &stream);
  bool takeOuterLoads(Stream &stream);
  void createLoad(OpBuilder &builder, Stream &stream, Value trip,
                  bool alwaysExists);
  void createPrologue();
  void createLoads(Stream &stream);
  void delayReceives();

  Block &block;
  SmallVector<scf::ForOp> loops;
  int64_t firstTrip = 0;
  SmallVector<Stream> streams;
  /// What holds the loops, in the body of the loop over tiles; and the number
  /// of visits.
  Operation *anchor = nullptr;
  Value end;
  /// Loads of visits in front of the loops and behind them.
  SmallVector<CooperativeLoadOp> outerLoads;
};

} // namespace

/// Loops that count trips one after the other, from a constant on.
bool Prefetcher::findChain() {
  for (auto loop : block.getOps<scf::ForOp>())
    if (!loop.getBody()->getOps<CooperativeLoadOp>().empty())
      loops.push_back(loop);
  for (size_t i = 1; i < loops.size(); ++i)
    if (loops[i].getLowerBound() != loops[i - 1].getUpperBound())
      return false;
  std::optional<int64_t> start =
      loops.empty() ? std::nullopt
                    : getConstantIntValue(loops.front().getLowerBound());
  if (!start || !llvm::all_of(loops, [](scf::ForOp loop) {
        return getConstantIntValue(loop.getStep()) == 1;
      }))
    return false;
  firstTrip = *start;
  end = loops.back().getUpperBound();
  return true;
}

/// Whether `branch` is taken exactly if there is a visit.
static bool isTakenForVisits(scf::IfOp branch, Value end) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  return compare && compare.getPredicate() == arith::CmpIPredicate::sgt &&
         compare.getLhs() == end && isZeroInteger(compare.getRhs());
}

/// Goes out of the branches around the loops. What is loaded in front of them
/// must be received, so nothing but the number of visits may lead there.
bool Prefetcher::findAnchor() {
  anchor = loops.front();
  while (auto branch = dyn_cast<scf::IfOp>(anchor->getParentOp())) {
    if (!isTakenForVisits(branch, end) ||
        anchor->getParentRegion() != &branch.getThenRegion())
      return false;
    anchor = branch;
  }
  // The number of visits must be known in front of the anchor.
  Operation *def = end.getDefiningOp();
  return !def || !anchor->isProperAncestor(def);
}

/// Whether `a` is to `aTrip` what `b` is to `bTrip`, by ops that can be
/// repeated in front of `anchor`.
static bool isSameFunction(Value a, OpFoldResult aTrip, Value b, Value bTrip,
                           Operation *anchor) {
  if (b == bTrip)
    return isEqualConstantIntOrValue(a, aTrip);
  if (a == b && !anchor->isAncestor(a.getParentBlock()->getParentOp()))
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
                        return isSameFunction(x, aTrip, y, bTrip, anchor);
                      });
}

/// Whether `a` loads for `aTrip` what `b` does for the trips of its loop.
bool Prefetcher::isSameLoad(CooperativeLoadOp a, OpFoldResult aTrip,
                            CooperativeLoadOp b, scf::ForOp bLoop) {
  return a->getAttrDictionary() == b->getAttrDictionary() &&
         a->getNumOperands() == b->getNumOperands() &&
         llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()),
                      [&](auto pair) {
                        auto [x, y] = pair;
                        return isSameFunction(x, aTrip, y,
                                              bLoop.getInductionVar(), anchor);
                      });
}

/// How far `number`, a sum with the trip of `loop`, is from that trip and what
/// the loop does not change.
static std::optional<int64_t> getOffset(Value number, scf::ForOp loop) {
  if (number == loop.getInductionVar())
    return 0;
  Operation *op = number.getDefiningOp();
  if (!op || !loop->isProperAncestor(op))
    return std::nullopt;
  if (isa<arith::SubIOp>(op)) {
    std::optional<int64_t> rest = getOffset(op->getOperand(0), loop);
    std::optional<int64_t> less = getConstantIntValue(op->getOperand(1));
    return rest && less ? std::optional(*rest - *less) : std::nullopt;
  }
  if (!isa<arith::AddIOp>(op))
    return std::nullopt;
  std::optional<int64_t> left = getOffset(op->getOperand(0), loop);
  std::optional<int64_t> right = getOffset(op->getOperand(1), loop);
  return left ? left : right;
}

/// Groups the loads by channel: all loops must load it, and the same way.
bool Prefetcher::findStreams() {
  for (auto load : loops.front().getBody()->getOps<CooperativeLoadOp>()) {
    std::optional<int64_t> offset = getOffset(load.getSlot(), loops.front());
    if (!offset)
      return false;
    streams.emplace_back().loads.push_back(load);
    streams.back().offset = *offset;
  }
  for (scf::ForOp loop : ArrayRef(loops).drop_front()) {
    auto loads = llvm::to_vector(loop.getBody()->getOps<CooperativeLoadOp>());
    if (loads.size() != streams.size())
      return false;
    for (auto [stream, load] : llvm::zip_equal(streams, loads))
      stream.loads.push_back(load);
  }
  for (Stream &stream : streams)
    for (auto [load, loop] : llvm::zip_equal(stream.loads, loops))
      if (!isSameLoad(stream.first(), loops.front().getInductionVar(), load,
                      loop))
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

/// Finds the loads outside of the loops: of the visits before the first trip's
/// and after the last one's, which are then loaded ahead as well.
bool Prefetcher::takeOuterLoads(Stream &stream) {
  int64_t before = 0, after = 0;
  for (auto load : block.getOps<CooperativeLoadOp>()) {
    if (load.getChannel() != stream.first().getChannel())
      continue;
    OpFoldResult trip = end;
    if (!load->isBeforeInBlock(loops.front()))
      ++after;
    else
      trip = Builder(load).getIndexAttr(before++ - stream.offset);
    if (after > 1 || !isSameLoad(load, trip, stream.first(), loops.front()))
      return false;
    outerLoads.push_back(load);
  }
  return before == firstTrip + stream.offset && after == -stream.offset &&
         stream.lookahead >= -stream.offset;
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

/// Loads what trip number `trip` reads, if there is such a visit.
void Prefetcher::createLoad(OpBuilder &builder, Stream &stream, Value trip,
                            bool alwaysExists) {
  CooperativeLoadOp load = stream.first();
  Location loc = load.getLoc();
  OpBuilder nested = builder;
  if (!alwaysExists) {
    Value visit = builder.createOrFold<arith::AddIOp>(
        loc, trip, arith::ConstantIndexOp::create(builder, loc, stream.offset));
    Value exists = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::slt, visit, end);
    nested = scf::IfOp::create(builder, loc, exists).getThenBodyBuilder();
  }
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *op) { return anchor->isProperAncestor(op); };
  SetVector<Operation *> slice;
  (void)getBackwardSlice(load.getOperation(), &slice, options);
  IRMapping mapping;
  mapping.map(loops.front().getInductionVar(), trip);
  for (Operation *op : slice)
    nested.clone(*op, mapping);
}

/// The first visits' tiles, in the order of their use.
void Prefetcher::createPrologue() {
  OpBuilder builder(anchor);
  Location loc = anchor->getLoc();
  int64_t last = 0;
  for (Stream &stream : streams)
    last = std::max(last, firstTrip + stream.lookahead);
  for (int64_t trip = 0; trip < last; ++trip)
    for (Stream &stream : streams)
      if (trip + stream.offset >= 0 && trip < firstTrip + stream.lookahead)
        createLoad(builder, stream,
                   arith::ConstantIndexOp::create(builder, loc, trip),
                   /*alwaysExists=*/false);
}

/// Puts the loads of the loops where they belong.
void Prefetcher::createLoads(Stream &stream) {
  for (auto [loop, place] : llvm::zip_equal(loops, stream.places)) {
    OpBuilder builder(place->getContext());
    builder.setInsertionPointAfter(place);
    Value trip = loop.getInductionVar();
    if (stream.lookahead > 0)
      trip =
          arith::AddIOp::create(builder, place.getLoc(), trip,
                                arith::ConstantIndexOp::create(
                                    builder, place.getLoc(), stream.lookahead));
    createLoad(builder, stream, trip,
               /*alwaysExists=*/stream.lookahead + stream.offset <= 0);
  }
}

/// Moves what waits for tiles read in front of the loops behind the first
/// loads, so that all are on their way at once.
void Prefetcher::delayReceives() {
  Block *outer = anchor->getBlock();
  for (auto receive : llvm::make_early_inc_range(outer->getOps<ReceiveOp>())) {
    if (!receive->isBeforeInBlock(anchor))
      break;
    SetVector<Operation *> waiting;
    getForwardSlice(receive.getOperation(), &waiting,
                    ForwardSliceOptions([&](Operation *op) {
                      return op->getBlock() == outer &&
                             op->isBeforeInBlock(anchor);
                    }));
    if (llvm::any_of(waiting, [](Operation *op) { return !isPure(op); }))
      continue;
    waiting.insert(receive);
    SmallVector<Operation *> inOrder;
    for (Operation &op : *outer)
      if (waiting.contains(&op))
        inOrder.push_back(&op);
    for (Operation *op : inOrder)
      op->moveBefore(anchor);
  }
}

std::optional<StringRef> Prefetcher::run() {
  if (!findChain())
    return "expected loops that count trips one after the other";
  if (!findAnchor())
    return "expected the loops to run whenever there is a visit";
  if (!findStreams())
    return "expected the loops to load the same tiles of each visit";
  for (Stream &stream : streams)
    if (!findPlaces(stream))
      return "expected one receive and one release behind each load";
  for (Stream &stream : streams)
    if (!takeOuterLoads(stream))
      return "expected loads of the visits before the first trip and after the "
             "last";
  createPrologue();
  delayReceives();
  // Each goes right behind its place: the first stream last, to come first.
  for (Stream &stream : llvm::reverse(streams))
    createLoads(stream);
  for (CooperativeLoadOp load : outerLoads)
    load.erase();
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
      auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
      // The outer loop is that over tiles.
      if (loop && loop->getParentOfType<scf::ForOp>())
        blocks.insert(loop->getBlock());
    });
    for (Block *block : blocks)
      if (std::optional<StringRef> reason = Prefetcher(*block).run())
        kernel.emitRemark("not prefetched: ") << *reason;
  }
};

} // namespace
