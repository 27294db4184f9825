//===- KeyLoopPipeline.cpp - Key loops, overlapped ------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for i { S = Q K_i; P = softmax S; O += P V_i }
//   ->  S = Q K_0; P = softmax S                     prologue
//       for i from 1 {
//         start S = Q K_i
//         start O += P V_(i-1)
//         wait S; softmax S while O runs
//         wait O; rescale O; round P
//       }
//       O += P V_last                                epilogue
//
// or, where the first iteration shares the loop,
//
//       for i {
//         start S = Q K_i
//         if (i is not the first) start O += P V_(i-1)
//         ...
//       }
//       if (there was an i) O += P V_last
//
// Where threads copy, iteration i still loads K_i and V_i, and receives V_i one
// iteration later: attn-prefetch-copies then sees one load of each for every
// iteration.
//
//===----------------------------------------------------------------------===//

#include "passes/KeyLoopPipeline.h"
#include "passes/Rematerialize.h"
#include "passes/TileLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Writes the pipeline of one loop.
class Pipeliner {
public:
  Pipeliner(Iteration &parts, bool peels)
      : parts(parts), old(parts.loop), qk(parts.qk), pv(parts.pv), builder(old),
        loc(old.getLoc()), peels(peels) {}

  void run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value isGreater(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, a, b);
  }
  void clone(ArrayRef<Operation *> ops, IRMapping &mapping) {
    for (Operation *op : ops)
      builder.clone(*op, mapping);
  }

  void wait(Product &product, Value started, int64_t pending,
            IRMapping &mapping);
  Value startQK(IRMapping &mapping);
  void loadPV(IRMapping &mapping);
  IRMapping locatePV(Value iteration);
  Value startPV(ValueRange state, IRMapping &mapping);
  Value startPVIf(Value condition, ValueRange state, IRMapping &mapping);
  void releasePVIf(Value condition, IRMapping &mapping);
  SmallVector<Value> getState(IRMapping &mapping);
  SmallVector<Value> getInitialState();

  SmallVector<Value> buildPrologue();
  SmallVector<Value> buildLoop(Value from, ValueRange state);
  void buildBody(TileLoopOp loop);
  Value buildEpilogue(ValueRange state);
  SmallVector<Value> buildPeeled(Value hasIterations);
  SmallVector<Value> buildUnpeeled(Value hasIterations);
  void takeOuterReleases();
  void releaseOuter();

  Iteration &parts;
  TileLoopOp old;
  Product &qk, &pv;
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

Value Pipeliner::startQK(IRMapping &mapping) {
  clone(parts.beforeQK, mapping);
  return builder.clone(*qk.start, mapping)->getResult(0);
}

/// Loads the tile that the PV product of this iteration reads in the next.
void Pipeliner::loadPV(IRMapping &mapping) {
  if (!pv.load)
    return;
  for (Value operand : pv.load->getOperands())
    rematerialize(builder, operand, old.getBody(), mapping);
  builder.clone(*pv.load, mapping);
}

/// Computes the slot of the tile that the PV product of `iteration` reads. The
/// mapping is of that product alone: it belongs to another iteration than the
/// QK product next to it.
IRMapping Pipeliner::locatePV(Value iteration) {
  IRMapping mapping;
  mapping.map(old.getIteration(), iteration);
  rematerialize(builder, pv.receive.getSlot(), old.getBody(), mapping);
  return mapping;
}

/// Starts the product of the weights in `state` with the tile that was located.
Value Pipeliner::startPV(ValueRange state, IRMapping &mapping) {
  builder.clone(*pv.receive, mapping);
  mapping.map(pv.start.getA(), state.back());
  mapping.map(pv.start.getAccumulator(), state[parts.accumulator]);
  return builder.clone(*pv.start, mapping)->getResult(0);
}

/// Where `condition` holds; always if it is null.
Value Pipeliner::startPVIf(Value condition, ValueRange state,
                           IRMapping &mapping) {
  if (!condition)
    return startPV(state, mapping);
  Type type = pv.start.getType();
  auto branch = scf::IfOp::create(builder, loc, type, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  Value started = startPV(state, mapping);
  scf::YieldOp::create(builder, loc, started);
  builder.setInsertionPointToEnd(branch.elseBlock());
  Value skipped =
      attn_gpu::MMASkipOp::create(builder, loc, type, state[parts.accumulator]);
  scf::YieldOp::create(builder, loc, skipped);
  return branch.getResult(0);
}

/// Where `condition` holds; always if it is null.
void Pipeliner::releasePVIf(Value condition, IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(builder);
  if (condition)
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, loc, condition).thenBlock());
  builder.clone(*pv.release, mapping);
}

/// What the next iteration needs: everything carried, the accumulator as the
/// product will find it, and the rounded weights.
SmallVector<Value> Pipeliner::getState(IRMapping &mapping) {
  SmallVector<Value> state;
  for (Value yielded : old.getYield().getOperands())
    state.push_back(mapping.lookupOrDefault(
        yielded == pv.wait.getResult() ? pv.start.getAccumulator() : yielded));
  state.push_back(mapping.lookup(pv.start.getA()));
  return state;
}

/// The state in front of the first iteration, which reads no weights.
SmallVector<Value> Pipeliner::getInitialState() {
  SmallVector<Value> state(old.getInits());
  state.push_back(arith::ConstantOp::create(
      builder, loc,
      cast<TypedAttr>(builder.getZeroAttr(pv.start.getA().getType()))));
  return state;
}

/// The releases behind the loop of a tile that only its QK products read, like
/// Q: the last of these is done before the last PV product starts.
void Pipeliner::takeOuterReleases() {
  Value operand = qk.start.getA(), tile = operand;
  if (auto part = operand.getDefiningOp<attn_gpu::SubtileOp>())
    tile = part.getSource();
  auto receive = tile.getDefiningOp<attn_gpu::ReceiveOp>();
  if (!receive)
    return;
  Block *block = old->getBlock();
  auto isReadLater = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *here = block->findAncestorOpInBlock(*user);
      return !here || old->isBeforeInBlock(here);
    });
  };
  if (isReadLater(tile) || isReadLater(operand))
    return;
  for (Operation *user : receive.getChannel().getUsers()) {
    auto release = dyn_cast<attn_gpu::ReleaseOp>(user);
    if (release && release->getBlock() == block &&
        old->isBeforeInBlock(release) && release.getSlot() == receive.getSlot())
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

/// Everything of the first iteration but its PV product.
SmallVector<Value> Pipeliner::buildPrologue() {
  IRMapping mapping;
  mapping.map(old.getRegionIterArgs(), old.getInits());
  mapping.map(old.getIteration(), old.getFrom());
  if (!old.getPosition().use_empty())
    mapping.map(old.getPosition(), createPosition(builder, old, old.getFrom()));
  Value started = startQK(mapping);
  wait(qk, started, /*pending=*/0, mapping);
  builder.clone(*qk.release, mapping);
  for (Operation *op : parts.softmax) {
    auto mask = dyn_cast<TileMaskOpInterface>(op);
    if (mask && old.getKind(0) == SegmentKind::Full)
      mapping.map(op->getResult(0),
                  mapping.lookupOrDefault(mask.getUnmasked()));
    else
      builder.clone(*op, mapping);
  }
  clone(parts.following, mapping);
  builder.clone(*parts.rounding, mapping);
  loadPV(mapping);
  return getState(mapping);
}

void Pipeliner::buildBody(TileLoopOp loop) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value iteration = loop.getIteration();
  IRMapping mapping;
  mapping.map(old.getBody()->getArguments(),
              loop.getBody()->getArguments().drop_back());
  Value scores = startQK(mapping);

  // Null where every iteration of the loop is one.
  Value isLater = peels ? Value() : isGreater(iteration, loop.getFrom());
  Value previous = arith::SubIOp::create(builder, loc, iteration, index(1));
  IRMapping pvMapping = locatePV(previous);
  SmallVector<Value> state(loop.getRegionIterArgs());
  Value product = startPVIf(isLater, state, pvMapping);
  wait(qk, scores, /*pending=*/1, mapping);
  builder.clone(*qk.release, mapping);
  clone(parts.softmax, mapping);

  wait(pv, product, /*pending=*/0, pvMapping);
  releasePVIf(isLater, pvMapping);
  loadPV(mapping);
  mapping.map(old.getRegionIterArgs()[parts.accumulator],
              pvMapping.lookup(pv.wait.getResult()));
  clone(parts.following, mapping);
  // Only now: the product that was waited for read the old weights from the
  // registers that the new ones go to.
  builder.clone(*parts.rounding, mapping);
  YieldOp::create(builder, loc, getState(mapping));
}

SmallVector<Value> Pipeliner::buildLoop(Value from, ValueRange state) {
  SmallVector<Value> ends(old.getEnds());
  SmallVector<SegmentKind> kinds = old.getSegmentKinds();
  // The prologue is all of a tail. Other first segments may have more
  // iterations.
  if (peels && kinds.front() == SegmentKind::Tail) {
    ends.erase(ends.begin());
    kinds.erase(kinds.begin());
  }
  if (kinds.empty())
    return llvm::to_vector(state);
  SmallVector<CarriedRole> roles = old.getCarriedRoles();
  roles.push_back(CarriedRole::Weights);
  auto loop = TileLoopOp::create(builder, loc, old.getAxis(), old.getStep(),
                                 old.getFirst(), old.getDescending(), from,
                                 ends, kinds, state, roles);
  buildBody(loop);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// The PV product of the last iteration; returns the accumulator.
Value Pipeliner::buildEpilogue(ValueRange state) {
  Value last = arith::SubIOp::create(builder, loc, old.getEnd(), index(1));
  IRMapping mapping = locatePV(last);
  Value started = startPV(state, mapping);
  wait(pv, started, /*pending=*/0, mapping);
  builder.clone(*pv.release, mapping);
  return mapping.lookup(pv.wait.getResult());
}

SmallVector<Value> Pipeliner::buildPeeled(Value hasIterations) {
  auto branch = scf::IfOp::create(builder, loc, old.getResultTypes(),
                                  hasIterations, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.elseBlock());
  releaseOuter();
  scf::YieldOp::create(builder, loc, old.getInits());

  builder.setInsertionPointToEnd(branch.thenBlock());
  SmallVector<Value> state = buildPrologue();
  Value from =
      builder.createOrFold<arith::AddIOp>(loc, old.getFrom(), index(1));
  state = buildLoop(from, state);
  releaseOuter();
  Value accumulator = buildEpilogue(state);
  state.pop_back();
  state[parts.accumulator] = accumulator;
  scf::YieldOp::create(builder, loc, state);
  return llvm::to_vector_of<Value>(branch.getResults());
}

SmallVector<Value> Pipeliner::buildUnpeeled(Value hasIterations) {
  SmallVector<Value> state = buildLoop(old.getFrom(), getInitialState());
  releaseOuter();
  Value &accumulator = state[parts.accumulator];
  auto branch = scf::IfOp::create(builder, loc, accumulator.getType(),
                                  hasIterations, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, accumulator);
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, buildEpilogue(state));
  accumulator = branch.getResult(0);
  state.pop_back();
  return state;
}

void Pipeliner::run() {
  takeOuterReleases();
  Value hasIterations = isGreater(old.getEnd(), old.getFrom());
  old->replaceAllUsesWith(peels ? buildPeeled(hasIterations)
                                : buildUnpeeled(hasIterations));
  for (attn_gpu::ReleaseOp release : outerReleases)
    release.erase();
  old.erase();
}

void mlir::attn::pipelineKeyLoop(Iteration &iteration, bool peels) {
  Pipeliner(iteration, peels).run();
}
