//===- KeyLoopPipeline.cpp - Key loops, overlapped ------------------------===//
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
// or, where the first visit shares the loop,
//
//       for i {
//         start S = Q K_i
//         if (i is not the first) start O += P V_(i-1)
//         ...
//       }
//       if (there was an i) O += P V_last
//
//===----------------------------------------------------------------------===//

#include "passes/KeyLoopPipeline.h"
#include "passes/KeyLoops.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Writes the pipeline of one chain of loops.
class Pipeliner {
public:
  Pipeliner(const Chain &loops, bool peels)
      : chain(loops), builder(chain.front().loop),
        loc(builder.getInsertionPoint()->getLoc()), peels(peels) {}

  void run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  void clone(ArrayRef<Operation *> ops, IRMapping &mapping) {
    for (Operation *op : ops)
      builder.clone(*op, mapping);
  }
  Value isGreater(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, a, b);
  }

  void wait(Product &product, Value started, int64_t pending,
            IRMapping &mapping);
  void locateValues(Iteration &iteration, Value visit, IRMapping &mapping);
  Value startValues(Iteration &iteration, ValueRange state, IRMapping &mapping);
  Value startValuesIf(Value condition, Iteration &iteration, ValueRange state,
                      IRMapping &mapping);
  void releaseValuesIf(Value condition, Iteration &iteration,
                       IRMapping &mapping);
  SmallVector<Value> getState(Iteration &iteration, IRMapping &mapping);
  SmallVector<Value> getInitialState();
  SmallVector<Value> buildFirstVisit();
  SmallVector<Value> buildLoop(Iteration &iteration, Value from,
                               ValueRange state);
  SmallVector<Value> buildLoops(Value from, SmallVector<Value> state);
  Value buildLastValues(ValueRange state);
  SmallVector<Value> buildPeeled(Value isVisited);
  SmallVector<Value> buildUnpeeled(Value isVisited);
  void takeOuterReleases();
  void releaseOuter();

  Chain chain;
  OpBuilder builder;
  Location loc;
  bool peels;
  SmallVector<attn_gpu::ReleaseOp> outerReleases;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void Pipeliner::wait(Product &product, Value started, int64_t pending,
                     IRMapping &mapping) {
  Value result = attn_gpu::MMAWaitOp::create(
      builder, loc, started, builder.getI64IntegerAttr(pending));
  mapping.map(product.wait.getResult(), result);
}

/// Computes where the values of the tile visited as number `visit` are.
/// `mapping` is that of the values alone: they belong to another visit than the
/// scores.
void Pipeliner::locateValues(Iteration &iteration, Value visit,
                             IRMapping &mapping) {
  mapping.map(iteration.loop.getInductionVar(), visit);
  clone(iteration.beforeValues, mapping);
}

/// Starts the product of the weights and the accumulator in `state` with the
/// values that were located.
Value Pipeliner::startValues(Iteration &iteration, ValueRange state,
                             IRMapping &mapping) {
  if (iteration.values.load)
    builder.clone(*iteration.values.load, mapping);
  builder.clone(*iteration.values.receive, mapping);
  mapping.map(iteration.weights.getResult(), state.back());
  mapping.map(iteration.values.start.getAccumulator(),
              state[iteration.accumulator]);
  return builder.clone(*iteration.values.start, mapping)->getResult(0);
}

/// Where `condition` holds; always if it is null.
Value Pipeliner::startValuesIf(Value condition, Iteration &iteration,
                               ValueRange state, IRMapping &mapping) {
  if (!condition)
    return startValues(iteration, state, mapping);
  Type type = iteration.values.start.getType();
  auto branch = scf::IfOp::create(builder, loc, type, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  Value started = startValues(iteration, state, mapping);
  scf::YieldOp::create(builder, loc, started);
  builder.setInsertionPointToEnd(branch.elseBlock());
  Value skipped = attn_gpu::MMASkipOp::create(builder, loc, type,
                                              state[iteration.accumulator]);
  scf::YieldOp::create(builder, loc, skipped);
  return branch.getResult(0);
}

/// Where `condition` holds; always if it is null.
void Pipeliner::releaseValuesIf(Value condition, Iteration &iteration,
                                IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(builder);
  if (condition)
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, loc, condition).thenBlock());
  builder.clone(*iteration.values.release, mapping);
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

/// The state in front of the first visit, which reads no weights.
SmallVector<Value> Pipeliner::getInitialState() {
  Iteration &first = chain.front();
  SmallVector<Value> state(first.loop.getInitArgs());
  state.push_back(arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(first.weights.getType())));
  return state;
}

/// The releases behind the chain of a tile that only its scores read, like Q:
/// the last of these is done before the last product with the values starts.
void Pipeliner::takeOuterReleases() {
  Value operand = chain.front().scores.start.getA(), tile = operand;
  if (auto part = operand.getDefiningOp<attn_gpu::SubtileOp>())
    tile = part.getSource();
  auto receive = tile.getDefiningOp<attn_gpu::ReceiveOp>();
  if (!receive)
    return;
  Block *block = chain.front().loop->getBlock();
  Operation *last = chain.back().loop;
  auto isReadLater = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *here = block->findAncestorOpInBlock(*user);
      return !here || last->isBeforeInBlock(here);
    });
  };
  if (isReadLater(tile) || isReadLater(operand))
    return;
  for (Operation *user : receive.getChannel().getUsers()) {
    auto release = dyn_cast<attn_gpu::ReleaseOp>(user);
    if (release && release->getBlock() == block &&
        release.getSlot() == receive.getSlot())
      outerReleases.push_back(release);
  }
}

void Pipeliner::releaseOuter() {
  for (attn_gpu::ReleaseOp release : outerReleases)
    builder.clone(*release);
}

//===----------------------------------------------------------------------===//
// Pipeline
//===----------------------------------------------------------------------===//

/// Everything of the first visit but its values.
SmallVector<Value> Pipeliner::buildFirstVisit() {
  Iteration &first = chain.front();
  IRMapping mapping;
  mapping.map(first.loop.getRegionIterArgs(), first.loop.getInitArgs());
  mapping.map(first.loop.getInductionVar(), first.loop.getLowerBound());
  clone(first.beforeScores, mapping);
  Value started = builder.clone(*first.scores.start, mapping)->getResult(0);
  wait(first.scores, started, /*pending=*/0, mapping);
  builder.clone(*first.scores.release, mapping);
  clone(first.softmax, mapping);
  clone(first.following, mapping);
  builder.clone(*first.weights, mapping);
  return getState(first, mapping);
}

SmallVector<Value> Pipeliner::buildLoop(Iteration &iteration, Value from,
                                        ValueRange state) {
  scf::ForOp old = iteration.loop;
  auto loop = scf::ForOp::create(builder, loc, from, old.getUpperBound(),
                                 old.getStep(), state);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  IRMapping mapping, valuesMapping;
  mapping.map(old.getRegionIterArgs(), loop.getRegionIterArgs().drop_back());
  Value visit = loop.getInductionVar();
  mapping.map(old.getInductionVar(), visit);
  clone(iteration.beforeScores, mapping);
  Value scores = builder.clone(*iteration.scores.start, mapping)->getResult(0);

  // Null where every visit of the loop is one.
  Value isLater =
      peels ? Value() : isGreater(visit, chain.front().loop.getLowerBound());
  locateValues(iteration, arith::SubIOp::create(builder, loc, visit, index(1)),
               valuesMapping);
  SmallVector<Value> previous(loop.getRegionIterArgs());
  Value values = startValuesIf(isLater, iteration, previous, valuesMapping);
  wait(iteration.scores, scores, /*pending=*/1, mapping);
  builder.clone(*iteration.scores.release, mapping);
  clone(iteration.softmax, mapping);

  wait(iteration.values, values, /*pending=*/0, valuesMapping);
  releaseValuesIf(isLater, iteration, valuesMapping);
  mapping.map(old.getRegionIterArg(iteration.accumulator),
              valuesMapping.lookup(iteration.values.wait.getResult()));
  clone(iteration.following, mapping);
  // Only now: the product that was waited for read the old weights from the
  // registers that the new ones go to.
  builder.clone(*iteration.weights, mapping);
  scf::YieldOp::create(builder, loc, getState(iteration, mapping));
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> Pipeliner::buildLoops(Value from, SmallVector<Value> state) {
  // Nothing is left of a first loop that ends with the visit in front of it; it
  // ends nowhere else, for no later loop has a visit if the first has none.
  bool isDone = peels && runsAtMostOnce(chain.front().loop);
  for (Iteration &iteration : llvm::drop_begin(chain, isDone ? 1 : 0)) {
    state = buildLoop(iteration, from, state);
    from = iteration.loop.getUpperBound();
  }
  return state;
}

/// The product with the values of the last visit; returns the accumulator.
Value Pipeliner::buildLastValues(ValueRange state) {
  Iteration &last = chain.back();
  IRMapping mapping;
  Value end = last.loop.getUpperBound();
  locateValues(last, arith::SubIOp::create(builder, loc, end, index(1)),
               mapping);
  Value started = startValues(last, state, mapping);
  wait(last.values, started, /*pending=*/0, mapping);
  builder.clone(*last.values.release, mapping);
  return mapping.lookup(last.values.wait.getResult());
}

SmallVector<Value> Pipeliner::buildPeeled(Value isVisited) {
  scf::ForOp first = chain.front().loop;
  auto branch = scf::IfOp::create(builder, loc, first.getResultTypes(),
                                  isVisited, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.elseBlock());
  releaseOuter();
  scf::YieldOp::create(builder, loc, first.getInitArgs());

  builder.setInsertionPointToEnd(branch.thenBlock());
  SmallVector<Value> state = buildFirstVisit();
  Value from = builder.createOrFold<arith::AddIOp>(loc, first.getLowerBound(),
                                                   first.getStep());
  state = buildLoops(from, state);
  releaseOuter();
  Value accumulator = buildLastValues(state);
  state.pop_back();
  state[chain.back().accumulator] = accumulator;
  scf::YieldOp::create(builder, loc, state);
  return llvm::to_vector_of<Value>(branch.getResults());
}

SmallVector<Value> Pipeliner::buildUnpeeled(Value isVisited) {
  SmallVector<Value> state =
      buildLoops(chain.front().loop.getLowerBound(), getInitialState());
  releaseOuter();
  Value &accumulator = state[chain.back().accumulator];
  auto branch = scf::IfOp::create(builder, loc, accumulator.getType(),
                                  isVisited, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, accumulator);
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, buildLastValues(state));
  accumulator = branch.getResult(0);
  state.pop_back();
  return state;
}

void Pipeliner::run() {
  scf::ForOp last = chain.back().loop;
  takeOuterReleases();
  builder.setInsertionPoint(last);
  Value isVisited =
      isGreater(last.getUpperBound(), chain.front().loop.getLowerBound());
  last.replaceAllUsesWith(peels ? buildPeeled(isVisited)
                                : buildUnpeeled(isVisited));
  for (attn_gpu::ReleaseOp release : outerReleases)
    release.erase();
  for (Iteration &iteration : llvm::reverse(chain))
    iteration.loop.erase();
}

void mlir::attn::pipelineKeyLoops(const Chain &chain, bool peels) {
  Pipeliner(chain, peels).run();
}
