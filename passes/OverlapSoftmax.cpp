//===- OverlapSoftmax.cpp - attn-overlap-softmax --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for i { S = Q K_i; P = softmax S; O += P V_i }
//   ->  S = Q K_0; P = softmax S
//       for i from 1 {
//         start S = Q K_i
//         start O += P V_(i-1)
//         wait S; softmax S while O runs
//         wait O; rescale O; round P
//       }
//       O += P V_last
//
// An iteration is cut in four parts: the *scores* with what they need, the
// *values* (receive, product, wait, release), what *follows* from the
// accumulator (its rescaling), and the rest, which is the softmax. All loops of
// a chain are cut alike, so one goes on where the one before stopped.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNOVERLAPSOFTMAXPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// One matmul of an iteration with the tile it reads.
struct Product {
  /// What fills the slot, where no producer does; null else.
  attn_gpu::CooperativeLoadOp load;
  attn_gpu::ReceiveOp receive;
  attn_gpu::MMAAsyncOp start;
  attn_gpu::MMAWaitOp wait;
  attn_gpu::ReleaseOp release;
};

/// A loop over key tiles, cut into parts.
struct Iteration {
  scf::ForOp loop;
  Product scores, values;
  /// The weights as the values' product reads them.
  arith::TruncFOp weights;
  /// Number of the accumulator among what the loop carries.
  unsigned accumulator = 0;
  /// In the order of the body.
  SmallVector<Operation *> beforeScores, beforeValues, softmax, following;
};

/// Consecutive loops that hand on all they carry.
using Chain = std::vector<Iteration>;

} // namespace

static std::optional<Product> matchProduct(attn_gpu::MMAAsyncOp start) {
  Product product;
  product.start = start;
  product.receive = start.getB().getDefiningOp<attn_gpu::ReceiveOp>();
  if (!product.receive || product.receive->getBlock() != start->getBlock() ||
      !start.getResult().hasOneUse())
    return std::nullopt;
  product.wait = dyn_cast<attn_gpu::MMAWaitOp>(*start->user_begin());
  for (Operation *user : product.receive.getChannel().getUsers()) {
    if (user->getBlock() != start->getBlock())
      continue;
    auto release = dyn_cast<attn_gpu::ReleaseOp>(user);
    if (release && release.getSlot() == product.receive.getSlot())
      product.release = release;
    auto load = dyn_cast<attn_gpu::CooperativeLoadOp>(user);
    if (load && load.getSlot() == product.receive.getSlot())
      product.load = load;
  }
  if (!product.wait || !product.release)
    return std::nullopt;
  return product;
}

/// Ops of `block` that `roots` are computed from.
static llvm::SetVector<Operation *> getSlice(ArrayRef<Operation *> roots,
                                             Block *block) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Operation *> worklist(roots);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == block && slice.insert(def))
        worklist.push_back(def);
    }
  }
  return slice;
}

/// Whether `op`, or an op inside it, has an operand in `values`.
static bool usesAny(Operation *op, const llvm::DenseSet<Value> &values) {
  return op
      ->walk([&](Operation *nested) {
        return llvm::any_of(nested->getOperands(),
                            [&](Value v) { return values.contains(v); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Finds the two products and the weights between them.
static bool matchProducts(Iteration &iteration) {
  auto starts =
      llvm::to_vector(iteration.loop.getBody()->getOps<attn_gpu::MMAAsyncOp>());
  if (starts.size() != 2 || starts[0].getAccumulator() ||
      !starts[1].getAccumulator())
    return false;
  std::optional<Product> scores = matchProduct(starts[0]);
  std::optional<Product> values = matchProduct(starts[1]);
  iteration.weights = starts[1].getA().getDefiningOp<arith::TruncFOp>();
  if (!scores || !values || !iteration.weights ||
      scores->receive == values->receive)
    return false;
  iteration.scores = *scores;
  iteration.values = *values;
  for (auto [number, yielded] :
       llvm::enumerate(iteration.loop.getYieldedValues())) {
    if (yielded == values->wait.getResult()) {
      iteration.accumulator = number;
      return true;
    }
  }
  return false;
}

/// Assigns every op of the body to a part.
static void cut(Iteration &iteration) {
  Block *body = iteration.loop.getBody();
  Product &scores = iteration.scores, &values = iteration.values;
  SmallVector<Operation *> ofScores = {scores.start, scores.release};
  SmallVector<Operation *> ofValues = {values.receive, values.release};
  if (scores.load)
    ofScores.push_back(scores.load);
  if (values.load)
    ofValues.push_back(values.load);
  auto beforeScores = getSlice(ofScores, body);
  auto beforeValues = getSlice(ofValues, body);
  if (scores.load)
    beforeScores.insert(scores.load);
  llvm::DenseSet<Operation *> products = {
      scores.start, scores.wait,    scores.release,
      values.load,  values.receive, values.start,
      values.wait,  values.release, iteration.weights};
  llvm::DenseSet<Value> followers = {
      iteration.loop.getRegionIterArg(iteration.accumulator)};
  for (Operation &op : body->without_terminator()) {
    if (products.contains(&op))
      continue;
    if (beforeScores.contains(&op))
      iteration.beforeScores.push_back(&op);
    if (beforeValues.contains(&op))
      iteration.beforeValues.push_back(&op);
    if (beforeScores.contains(&op))
      continue;
    if (usesAny(&op, followers)) {
      iteration.following.push_back(&op);
      followers.insert(op.result_begin(), op.result_end());
    } else {
      // With what the values need as well, since they belong to another visit.
      iteration.softmax.push_back(&op);
    }
  }
}

/// Whether the parts depend on each other only as the pipeline has it.
static bool canPipeline(Iteration &iteration) {
  scf::ForOp loop = iteration.loop;
  if (!iteration.values.wait.getResult().hasOneUse() ||
      !iteration.weights->hasOneUse() ||
      !loop.getBody()->getOps<attn_gpu::TMALoadOp>().empty() ||
      !llvm::all_of(loop.getBody()->getOps<attn_gpu::CooperativeLoadOp>(),
                    [&](attn_gpu::CooperativeLoadOp load) {
                      return load == iteration.scores.load ||
                             load == iteration.values.load;
                    }))
    return false;
  // The values of a visit are found from its number alone, and its scores
  // without the accumulator, which is still being written.
  llvm::DenseSet<Value> carried(loop.getRegionIterArgs().begin(),
                                loop.getRegionIterArgs().end());
  llvm::DenseSet<Value> accumulator = {
      loop.getRegionIterArg(iteration.accumulator)};
  return llvm::all_of(iteration.beforeValues,
                      [&](Operation *op) {
                        return isMemoryEffectFree(op) && !usesAny(op, carried);
                      }) &&
         llvm::none_of(iteration.beforeScores,
                       [&](Operation *op) { return usesAny(op, accumulator); });
}

static std::optional<Iteration> matchIteration(scf::ForOp loop) {
  Iteration iteration;
  iteration.loop = loop;
  if (!matchPattern(loop.getStep(), m_One()) || !matchProducts(iteration))
    return std::nullopt;
  cut(iteration);
  if (!canPipeline(iteration))
    return std::nullopt;
  return iteration;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

namespace {

/// Writes the pipeline of one chain of loops.
class Pipeliner {
public:
  Pipeliner(const Chain &loops)
      : chain(loops), builder(chain.front().loop),
        loc(builder.getInsertionPoint()->getLoc()) {}

  void run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  void clone(ArrayRef<Operation *> ops, IRMapping &mapping) {
    for (Operation *op : ops)
      builder.clone(*op, mapping);
  }
  void wait(Product &product, int64_t pending, IRMapping &mapping);
  Value startValues(Iteration &iteration, Value visit, Value weights,
                    Value accumulator, IRMapping &mapping);
  SmallVector<Value> getState(Iteration &iteration, IRMapping &mapping);
  SmallVector<Value> buildPrologue();
  SmallVector<Value> buildLoop(Iteration iteration, Value from,
                               ValueRange state);
  SmallVector<Value> buildEpilogue(Value end, ValueRange state);
  SmallVector<attn_gpu::ReleaseOp> takeOuterReleases();

  Chain chain;
  OpBuilder builder;
  Location loc;
};

} // namespace

void Pipeliner::wait(Product &product, int64_t pending, IRMapping &mapping) {
  Value result = attn_gpu::MMAWaitOp::create(
      builder, loc, mapping.lookup(product.start.getResult()),
      builder.getI64IntegerAttr(pending));
  mapping.map(product.wait.getResult(), result);
  builder.clone(*product.release, mapping);
}

/// Starts the product of the tile visited as number `visit`. `mapping` is that
/// of the values alone: they belong to another visit than the scores.
Value Pipeliner::startValues(Iteration &iteration, Value visit, Value weights,
                             Value accumulator, IRMapping &mapping) {
  mapping.map(iteration.loop.getInductionVar(), visit);
  clone(iteration.beforeValues, mapping);
  if (iteration.values.load)
    builder.clone(*iteration.values.load, mapping);
  builder.clone(*iteration.values.receive, mapping);
  mapping.map(iteration.weights.getResult(), weights);
  mapping.map(iteration.values.start.getAccumulator(), accumulator);
  return builder.clone(*iteration.values.start, mapping)->getResult(0);
}

/// What the next iteration needs: everything carried, the accumulator as the
/// product will find it, and the weights.
SmallVector<Value> Pipeliner::getState(Iteration &iteration,
                                       IRMapping &mapping) {
  SmallVector<Value> state;
  for (auto [number, yielded] :
       llvm::enumerate(iteration.loop.getYieldedValues()))
    state.push_back(mapping.lookupOrDefault(
        number == iteration.accumulator
            ? Value(iteration.values.start.getAccumulator())
            : yielded));
  state.push_back(mapping.lookup(iteration.weights.getResult()));
  return state;
}

SmallVector<Value> Pipeliner::buildPrologue() {
  Iteration &first = chain.front();
  IRMapping mapping;
  mapping.map(first.loop.getRegionIterArgs(), first.loop.getInitArgs());
  mapping.map(first.loop.getInductionVar(), first.loop.getLowerBound());
  clone(first.beforeScores, mapping);
  builder.clone(*first.scores.start, mapping);
  wait(first.scores, /*pending=*/0, mapping);
  clone(first.softmax, mapping);
  clone(first.following, mapping);
  builder.clone(*first.weights, mapping);
  return getState(first, mapping);
}

SmallVector<Value> Pipeliner::buildLoop(Iteration iteration, Value from,
                                        ValueRange state) {
  scf::ForOp old = iteration.loop;
  auto loop = scf::ForOp::create(builder, loc, from, old.getUpperBound(),
                                 old.getStep(), state);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  IRMapping mapping, valuesMapping;
  mapping.map(old.getRegionIterArgs(), loop.getRegionIterArgs().drop_back());
  mapping.map(old.getInductionVar(), loop.getInductionVar());
  clone(iteration.beforeScores, mapping);
  builder.clone(*iteration.scores.start, mapping);

  Value previous =
      arith::SubIOp::create(builder, loc, loop.getInductionVar(), index(1));
  Value started =
      startValues(iteration, previous, loop.getRegionIterArgs().back(),
                  loop.getRegionIterArg(iteration.accumulator), valuesMapping);
  wait(iteration.scores, /*pending=*/1, mapping);
  clone(iteration.softmax, mapping);

  valuesMapping.map(iteration.values.start.getResult(), started);
  wait(iteration.values, /*pending=*/0, valuesMapping);
  mapping.map(old.getRegionIterArg(iteration.accumulator),
              valuesMapping.lookup(iteration.values.wait.getResult()));
  clone(iteration.following, mapping);
  // Only now: the product that was waited for read the old weights from the
  // registers that the new ones go to.
  builder.clone(*iteration.weights, mapping);
  scf::YieldOp::create(builder, loc, getState(iteration, mapping));
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> Pipeliner::buildEpilogue(Value end, ValueRange state) {
  Iteration &last = chain.back();
  IRMapping mapping;
  Value visit = arith::SubIOp::create(builder, loc, end, index(1));
  Value started =
      startValues(last, visit, state.back(), state[last.accumulator], mapping);
  mapping.map(last.values.start.getResult(), started);
  wait(last.values, /*pending=*/0, mapping);
  SmallVector<Value> results(state.drop_back());
  results[last.accumulator] = mapping.lookup(last.values.wait.getResult());
  return results;
}

/// The releases behind the chain of a tile that only its scores read, like Q:
/// the last of these is done before the last product with the values starts.
SmallVector<attn_gpu::ReleaseOp> Pipeliner::takeOuterReleases() {
  SmallVector<attn_gpu::ReleaseOp> releases;
  Value operand = chain.front().scores.start.getA(), tile = operand;
  if (auto part = operand.getDefiningOp<attn_gpu::SubtileOp>())
    tile = part.getSource();
  auto receive = tile.getDefiningOp<attn_gpu::ReceiveOp>();
  if (!receive)
    return releases;
  Block *block = chain.front().loop->getBlock();
  Operation *last = chain.back().loop;
  auto isReadLater = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *here = block->findAncestorOpInBlock(*user);
      return !here || last->isBeforeInBlock(here);
    });
  };
  if (isReadLater(tile) || isReadLater(operand))
    return releases;
  for (Operation *user : receive.getChannel().getUsers()) {
    auto release = dyn_cast<attn_gpu::ReleaseOp>(user);
    if (release && release->getBlock() == block &&
        release.getSlot() == receive.getSlot())
      releases.push_back(release);
  }
  return releases;
}

void Pipeliner::run() {
  scf::ForOp first = chain.front().loop, last = chain.back().loop;
  Value end = last.getUpperBound();
  builder.setInsertionPoint(last);
  Value isVisited = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sgt, end, first.getLowerBound());
  auto guard = scf::IfOp::create(builder, loc, last.getResultTypes(), isVisited,
                                 /*withElseRegion=*/true);
  SmallVector<attn_gpu::ReleaseOp> releases = takeOuterReleases();
  builder.setInsertionPointToEnd(&guard.getElseRegion().front());
  for (attn_gpu::ReleaseOp release : releases)
    builder.clone(*release);
  scf::YieldOp::create(builder, loc, first.getInitArgs());

  builder.setInsertionPointToEnd(&guard.getThenRegion().front());
  SmallVector<Value> state = buildPrologue();
  Value from = builder.createOrFold<arith::AddIOp>(loc, first.getLowerBound(),
                                                   first.getStep());
  for (Iteration &iteration : chain) {
    if (iteration.loop != first)
      from = iteration.loop.getLowerBound();
    state = buildLoop(iteration, from, state);
  }
  for (attn_gpu::ReleaseOp release : releases) {
    builder.clone(*release);
    release.erase();
  }
  scf::YieldOp::create(builder, loc, buildEpilogue(end, state));

  last.replaceAllUsesWith(guard.getResults());
  for (Iteration &iteration : llvm::reverse(chain))
    iteration.loop.erase();
}

/// Whether `next` goes on where `loop` stops, with all it carries and for
/// nobody else to see.
static bool continues(scf::ForOp loop, scf::ForOp next) {
  return next.getLowerBound() == loop.getUpperBound() &&
         llvm::equal(next.getInitArgs(), loop.getResults()) &&
         llvm::all_of(loop->getUsers(),
                      [&](Operation *user) { return user == next; });
}

static std::vector<Chain> collectChains(Operation *root) {
  std::vector<Chain> chains;
  root->walk([&](scf::ForOp loop) {
    std::optional<Iteration> iteration = matchIteration(loop);
    if (!iteration)
      return;
    if (chains.empty() || !continues(chains.back().back().loop, loop))
      chains.emplace_back();
    chains.back().push_back(*iteration);
  });
  return chains;
}

namespace {

struct AttnOverlapSoftmax
    : attn::impl::AttnOverlapSoftmaxPassBase<AttnOverlapSoftmax> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (!schedule || !schedule.getOverlap())
      return;
    std::vector<Chain> chains = collectChains(kernel);
    if (chains.empty())
      kernel.emitRemark("not overlapped: expected loops of two matmuls with "
                        "tiles from channels");
    for (const Chain &chain : chains)
      Pipeliner(chain).run();
  }
};

} // namespace
