//===- LowerTileLoops.cpp - attn-lower-tile-loops -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.tile_loop segments(partial %a, full %b) { masked body }
//   ->  scf.for %from to %a { masked body }; scf.for %a to %b { body }
//
// or, where accumulators are wide,
//
//       scf.for %from to %b { body with its mask under i < %a }
//
// and attn.tile_grid, where it is still there, to scf.forall.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/TileLoops.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNLOWERTILELOOPSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// A range of iterations that one `scf.for` runs.
struct Range {
  Value begin, end;
  /// Whether masks apply: always, never, or where this holds of the iteration.
  bool masked = true;
  llvm::function_ref<Value(OpBuilder &, Value)> isPartial;
};

/// Writes the loops of one `attn.tile_loop`.
class LoopLowering {
public:
  explicit LoopLowering(TileLoopOp old)
      : old(old), builder(old), loc(old.getLoc()) {}

  void lower(bool shared);

private:
  void createMask(TileMaskOpInterface mask, const Range &range, Value iteration,
                  IRMapping &mapping);
  SmallVector<Value> createLoop(const Range &range, ValueRange inits);
  Value isInPartialSegment(OpBuilder &nested, Value iteration);

  TileLoopOp old;
  OpBuilder builder;
  Location loc;
};

} // namespace

/// Clones the mask, as far as it applies.
void LoopLowering::createMask(TileMaskOpInterface mask, const Range &range,
                              Value iteration, IRMapping &mapping) {
  Value unmasked = mapping.lookupOrDefault(mask.getUnmasked());
  if (!range.masked) {
    mapping.map(mask->getResult(0), unmasked);
    return;
  }
  if (!range.isPartial) {
    builder.clone(*mask, mapping);
    return;
  }
  Value condition = range.isPartial(builder, iteration);
  auto branch = scf::IfOp::create(builder, loc, unmasked.getType(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder nested = branch.getThenBodyBuilder();
  Value masked = nested.clone(*mask, mapping)->getResult(0);
  scf::YieldOp::create(nested, loc, masked);
  nested = branch.getElseBodyBuilder();
  scf::YieldOp::create(nested, loc, unmasked);
  mapping.map(mask->getResult(0), branch.getResult(0));
}

SmallVector<Value> LoopLowering::createLoop(const Range &range,
                                            ValueRange inits) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop =
      scf::ForOp::create(builder, loc, range.begin, range.end, one, inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value iteration = loop.getInductionVar();
  IRMapping mapping;
  mapping.map(old.getIteration(), iteration);
  mapping.map(old.getRegionIterArgs(), loop.getRegionIterArgs());
  if (!old.getPosition().use_empty())
    mapping.map(old.getPosition(), createPosition(builder, old, iteration));
  for (Operation &op : old.getBody()->without_terminator()) {
    if (auto mask = dyn_cast<TileMaskOpInterface>(op))
      createMask(mask, range, iteration, mapping);
    else
      builder.clone(op, mapping);
  }
  if (!inits.empty()) {
    SmallVector<Value> yielded;
    for (Value value : old.getYield().getOperands())
      yielded.push_back(mapping.lookupOrDefault(value));
    scf::YieldOp::create(builder, loc, yielded);
  }
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// Whether the iteration is in a segment that masks.
Value LoopLowering::isInPartialSegment(OpBuilder &nested, Value iteration) {
  Value result, begin;
  for (auto [kind, end] : llvm::zip(old.getSegmentKinds(), old.getEnds())) {
    if (kind != SegmentKind::Full) {
      auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
        return arith::CmpIOp::create(nested, loc, predicate, iteration, bound);
      };
      Value inside = end == old.getEnd()
                         ? Value()
                         : compare(arith::CmpIPredicate::slt, end);
      if (begin) {
        Value behind = compare(arith::CmpIPredicate::sge, begin);
        inside =
            inside
                ? arith::AndIOp::create(nested, loc, inside, behind).getResult()
                : behind;
      }
      result =
          result && inside
              ? arith::OrIOp::create(nested, loc, result, inside).getResult()
              : inside;
    }
    begin = end;
  }
  return result;
}

void LoopLowering::lower(bool shared) {
  SmallVector<Value> carried(old.getInits());
  SmallVector<SegmentKind> kinds = old.getSegmentKinds();
  bool hasMasks = !old.getBody()->getOps<TileMaskOpInterface>().empty();
  auto isFull = [](SegmentKind kind) { return kind == SegmentKind::Full; };
  bool isMixed =
      llvm::any_of(kinds, isFull) && !llvm::all_of(kinds, isFull) && hasMasks;
  if (!isMixed || shared) {
    auto isPartial = [&](OpBuilder &nested, Value iteration) {
      return isInPartialSegment(nested, iteration);
    };
    Range range{old.getFrom(), old.getEnd(), !llvm::all_of(kinds, isFull), {}};
    if (isMixed)
      range.isPartial = isPartial;
    carried = createLoop(range, carried);
  } else {
    Value begin = old.getFrom();
    for (auto [kind, end] : llvm::zip(kinds, old.getEnds())) {
      carried = createLoop({begin, end, !isFull(kind), {}}, carried);
      begin = end;
    }
  }
  old->replaceAllUsesWith(carried);
  old.erase();
}

/// Erases what the body of each loop computes for nothing, last op first.
static void eraseDeadOps(Operation *root) {
  root->walk<WalkOrder::PostOrder>([](scf::ForOp loop) {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
      if (isOpTriviallyDead(&op))
        op.erase();
  });
}

static void lower(TileGridOp grid) {
  OpBuilder builder(grid);
  Location loc = grid.getLoc();
  auto tiles = scf::ForallOp::create(
      builder, loc, getAsOpFoldResult(ValueRange(grid.getExtents())),
      ValueRange(), /*mapping=*/std::nullopt);
  builder.setInsertionPointToStart(tiles.getBody());
  SmallVector<OpFoldResult> numWorkers = {
      builder.getIndexAttr(grid.getWorkers())};
  auto workers = scf::ForallOp::create(builder, loc, numWorkers, ValueRange(),
                                       /*mapping=*/std::nullopt);
  SmallVector<Value> arguments(tiles.getInductionVars());
  arguments.push_back(workers.getInductionVar(0));
  Block &body = grid.getBody().front();
  body.getTerminator()->erase();
  builder.setInsertionPointToStart(workers.getBody());
  IRRewriter rewriter(builder);
  rewriter.inlineBlockBefore(&body, workers.getBody()->getTerminator(),
                             arguments);
  grid.erase();
}

/// The schedule of the function or kernel around the loop, if it states one.
static ScheduleAttr findSchedule(TileLoopOp loop) {
  for (Operation *op = loop->getParentOp(); op; op = op->getParentOp())
    if (auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttr))
      return schedule;
  return {};
}

namespace {

struct AttnLowerTileLoops
    : attn::impl::AttnLowerTileLoopsPassBase<AttnLowerTileLoops> {
  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PostOrder>([&](TileLoopOp loop) {
      LoopLowering(loop).lower(sharesCode(loop, findSchedule(loop)));
    });
    eraseDeadOps(getOperation());
    getOperation()->walk([](TileGridOp grid) { lower(grid); });
  }
};

} // namespace
