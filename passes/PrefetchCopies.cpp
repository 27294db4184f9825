//===- PrefetchCopies.cpp - attn-prefetch-copies --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for i { load K[i]; receive K[i]; ...; release K[i];
//         load V[i]; receive V[i]; ...; release V[i] }
//   ->  load K[0]
//       for i { receive K[i]; load V[i];     ...; release K[i];
//               receive V[i]; load K[i + 1]; ...; release V[i] }
//
// shown for rings of one slot. A slot is free once every worker has released
// it, so the copy that fills it again stands behind the next `receive`: that
// one waits for all threads anyhow, and the copy has until its own `receive`
// to arrive. With S slots it runs S iterations ahead.
//
// Every iteration loads one tile of a channel and receives one. What was loaded
// but not received in front of the loop is therefore how many iterations a tile
// is received behind its load.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Rematerialize.h"
#include "passes/TileLoops.h"

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

/// The loads of one channel.
struct Stream {
  /// Of the loop, and of a prologue in front of it; null where there is none.
  CooperativeLoadOp load, prologue;
  ReceiveOp receive;
  ReleaseOp release;
  /// Iterations between the load of a tile and its receive, as they are.
  int64_t distance = 0;
  /// Iterations that the load of the loop moves ahead, and the receive behind
  /// which it goes.
  int64_t lookahead = 0;
  ReceiveOp place;

  Value getChannel() { return load.getChannel(); }
};

/// Prefetches for one loop.
class Prefetcher {
public:
  explicit Prefetcher(TileLoopOp loop);

  /// Says why not, or nothing.
  std::optional<StringRef> run();

private:
  bool findStream(CooperativeLoadOp load);
  bool findOuterOps(Stream &stream);
  bool findPlace(Stream &stream);
  bool isKnownInFront(Stream &stream);

  IRMapping mapIteration(OpBuilder &builder, Value iteration);
  void createLoad(OpBuilder &builder, CooperativeLoadOp load, Block *from,
                  IRMapping &mapping);
  void createLoadIfExists(OpBuilder &builder, Stream &stream, Value iteration,
                          Value end);
  void createFirstLoads();
  void createLoads(Stream &stream);
  void delayReceives();

  TileLoopOp loop;
  Block *body;
  /// What holds the loop, in front of which the first loads go: a branch or the
  /// loop itself. `scope` is the block in it that holds loop or body.
  Operation *anchor;
  Block *scope;
  SmallVector<Stream> streams;
};

} // namespace

Prefetcher::Prefetcher(TileLoopOp loop)
    : loop(loop), body(loop.getBody()), anchor(loop), scope(body) {
  auto branch = dyn_cast<scf::IfOp>(loop->getParentOp());
  if (branch && branch.thenBlock() == loop->getBlock()) {
    anchor = branch;
    scope = branch.thenBlock();
  }
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

bool Prefetcher::findStream(CooperativeLoadOp load) {
  Stream stream;
  Value channel = load.getChannel();
  stream.load = findOnly<CooperativeLoadOp>(body, channel);
  stream.receive = findOnly<ReceiveOp>(body, channel);
  stream.release = findOnly<ReleaseOp>(body, channel);
  if (!stream.load || !stream.receive || !stream.release ||
      !stream.receive->isBeforeInBlock(stream.release))
    return false;
  streams.push_back(stream);
  return true;
}

/// Finds what a prologue loads and receives. Nothing else may load.
bool Prefetcher::findOuterOps(Stream &stream) {
  for (Operation *user : stream.getChannel().getUsers()) {
    bool isInFront =
        user->getBlock() == loop->getBlock() && user->isBeforeInBlock(loop);
    if (auto load = dyn_cast<CooperativeLoadOp>(user)) {
      if (load == stream.load)
        continue;
      if (!isInFront || anchor == loop || stream.prologue)
        return false;
      stream.prologue = load;
      ++stream.distance;
    } else if (isa<ReceiveOp>(user) && isInFront) {
      --stream.distance;
    }
  }
  return stream.distance >= 0;
}

/// The first receive behind the release, going around the loop.
bool Prefetcher::findPlace(Stream &stream) {
  int64_t stages = stream.load.getChannel().getType().getStages();
  stream.lookahead = stages - stream.distance;
  auto receives = body->getOps<ReceiveOp>();
  auto next = llvm::find_if(receives, [&](ReceiveOp receive) {
    return stream.release->isBeforeInBlock(receive);
  });
  if (next == receives.end()) {
    next = receives.begin();
    --stream.lookahead;
  }
  stream.place = *next;
  // A load behind its own tile's receive would never arrive.
  bool isLate = stream.distance == 0 && stream.lookahead == 0 &&
                !stream.place->isBeforeInBlock(stream.receive);
  bool hasSlots = stream.lookahead + (stream.prologue ? 1 : 0) <= stages;
  return stream.lookahead >= 0 && !isLate && hasSlots;
}

/// Whether what the loads are computed from can be computed in front of the
/// loop and of the branch around it.
bool Prefetcher::isKnownInFront(Stream &stream) {
  IRMapping mapping;
  auto isKnown = [&](Value value) {
    return canRematerialize(value, scope, mapping);
  };
  if (stream.prologue && !llvm::all_of(stream.prologue->getOperands(), isKnown))
    return false;
  mapping.map(loop.getIteration(), loop.getIteration());
  mapping.map(loop.getPosition(), loop.getPosition());
  return llvm::all_of(stream.load->getOperands(), isKnown) &&
         isKnown(loop.getFrom()) && isKnown(loop.getEnd()) &&
         (anchor == loop ||
          !anchor->isAncestor(loop.getFirst().getParentBlock()->getParentOp()));
}

/// What `iteration` has for what the body has for its own.
IRMapping Prefetcher::mapIteration(OpBuilder &builder, Value iteration) {
  IRMapping mapping;
  mapping.map(loop.getIteration(), iteration);
  mapping.map(loop.getPosition(), createPosition(builder, loop, iteration));
  return mapping;
}

/// Loads with what `mapping` has; what else the load needs of `from` is
/// computed anew.
void Prefetcher::createLoad(OpBuilder &builder, CooperativeLoadOp load,
                            Block *from, IRMapping &mapping) {
  for (Value operand : load->getOperands())
    rematerialize(builder, operand, from, mapping);
  builder.clone(*load, mapping);
}

/// Loads what `iteration` loads in the loop, if there is such an iteration.
void Prefetcher::createLoadIfExists(OpBuilder &builder, Stream &stream,
                                    Value iteration, Value end) {
  Location loc = stream.load.getLoc();
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       iteration, end);
  OpBuilder nested =
      scf::IfOp::create(builder, loc, exists).getThenBodyBuilder();
  IRMapping mapping = mapIteration(nested, iteration);
  bool isInLoop =
      body->getParent()->isAncestor(builder.getInsertionBlock()->getParent());
  createLoad(nested, stream.load, isInLoop ? body : scope, mapping);
}

/// The tiles of the prologue and of the first iterations, in the order of their
/// use.
void Prefetcher::createFirstLoads() {
  OpBuilder builder(anchor);
  Location loc = anchor->getLoc();
  if (auto branch = dyn_cast<scf::IfOp>(anchor)) {
    auto again = scf::IfOp::create(builder, loc, branch.getCondition());
    builder = again.getThenBodyBuilder();
  }
  IRMapping bounds;
  Value from = rematerialize(builder, loop.getFrom(), scope, bounds);
  Value end = rematerialize(builder, loop.getEnd(), scope, bounds);
  int64_t last = 0;
  for (Stream &stream : streams)
    last = std::max(last, stream.lookahead + stream.distance);
  // Iterations of the loop that a tile is used in; the prologue is that before
  // the first.
  for (int64_t use = -1; use < last; ++use) {
    for (Stream &stream : streams) {
      int64_t number = use - stream.distance;
      if (number == -1 && stream.prologue) {
        IRMapping mapping;
        createLoad(builder, stream.prologue, scope, mapping);
      } else if (number >= 0 && number < stream.lookahead) {
        Value iteration = builder.createOrFold<arith::AddIOp>(
            loc, from, arith::ConstantIndexOp::create(builder, loc, number));
        createLoadIfExists(builder, stream, iteration, end);
      }
    }
  }
}

/// Puts the load of the loop where it belongs.
void Prefetcher::createLoads(Stream &stream) {
  OpBuilder builder(loop.getContext());
  builder.setInsertionPointAfter(stream.place);
  Location loc = stream.load.getLoc();
  if (stream.lookahead == 0) {
    IRMapping mapping;
    mapping.map(loop.getIteration(), loop.getIteration());
    mapping.map(loop.getPosition(), loop.getPosition());
    createLoad(builder, stream.load, body, mapping);
    return;
  }
  Value iteration = arith::AddIOp::create(
      builder, loc, loop.getIteration(),
      arith::ConstantIndexOp::create(builder, loc, stream.lookahead));
  createLoadIfExists(builder, stream, iteration, loop.getEnd());
}

/// Moves what waits for tiles read in front of the loop behind the first loads,
/// so that all are on their way at once.
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
  for (auto load : body->getOps<CooperativeLoadOp>())
    if (!findStream(load))
      return "expected one load of each channel, one receive and one release "
             "behind it";
  llvm::stable_sort(streams, [](const Stream &a, const Stream &b) {
    return a.receive->isBeforeInBlock(b.receive);
  });
  for (Stream &stream : streams) {
    if (!findOuterOps(stream))
      return "expected loads of a prologue, and none other";
    if (!findPlace(stream))
      return "expected a slot that is free in time";
    if (!isKnownInFront(stream))
      return "expected tiles that are known in front of the loop";
  }
  createFirstLoads();
  delayReceives();
  // Each goes right behind its place: the first stream last, to come first.
  for (Stream &stream : llvm::reverse(streams))
    createLoads(stream);
  for (Stream &stream : streams) {
    if (stream.prologue)
      stream.prologue.erase();
    stream.load.erase();
  }
  return std::nullopt;
}

namespace {

struct AttnPrefetchCopies
    : attn::impl::AttnPrefetchCopiesPassBase<AttnPrefetchCopies> {
  void runOnOperation() override {
    SmallVector<TileLoopOp> loops;
    getOperation().walk([&](TileLoopOp loop) {
      if (!loop.getBody()->getOps<CooperativeLoadOp>().empty())
        loops.push_back(loop);
    });
    for (TileLoopOp loop : loops)
      if (std::optional<StringRef> reason = Prefetcher(loop).run())
        loop.emitRemark("not prefetched: ") << *reason;
  }
};

} // namespace
