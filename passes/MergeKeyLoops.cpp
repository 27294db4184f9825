//===- MergeKeyLoops.cpp - attn-merge-key-loops ---------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for i in [a, b) { S = scores; M = mask S; rest(M) }
// for i in [b, c) { S = scores;             rest(S) }
//   ->  for i in [min(a, b), max(b, c)) {
//         S = scores
//         M = i < b ? mask S : S
//         rest(M)
//       }
//
// Two loops save a branch per tile, but an assembler spends most of its time on
// matrix products: it looks at each of their accumulators in every pass. So the
// loops become one where accumulators are many and the masked loop may make
// more than one trip; passes/README.md has figures.
//
// The bounds need not be ordered: the loops above visit [a, b) and [b, c),
// which is what one loop visits from the lesser start to the greater end.
//
//===----------------------------------------------------------------------===//

#include "passes/KeyLoops.h"
#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNMERGEKEYLOOPSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Two loops that differ by a mask.
struct LoopPair {
  scf::ForOp masked, full;
  MaskBandOp mask;
  /// Ops of the first loop that only its mask needs, and the mask, last first.
  llvm::SetVector<Operation *> masking;
};

} // namespace

/// Whether nothing between the two ops of a block touches memory.
static bool areAdjacent(Operation *op, Operation *next) {
  for (op = op->getNextNode(); op && op != next; op = op->getNextNode())
    if (!isMemoryEffectFree(op))
      return false;
  return op;
}

static void collectMasking(LoopPair &pair) {
  pair.masking.insert(pair.mask);
  Operation *scores = pair.mask.getScores().getDefiningOp();
  for (Operation *op = pair.mask->getPrevNode(); op; op = op->getPrevNode())
    if (op != scores && isPure(op) && !op->use_empty() &&
        llvm::all_of(op->getUsers(), [&](Operation *user) {
          return pair.masking.contains(user);
        }))
      pair.masking.insert(op);
}

/// Whether the bodies are the same once the mask is taken for the scores.
static bool isSameButForMask(LoopPair &pair) {
  llvm::DenseMap<Value, Value> twins;
  auto getTwin = [&](Value value) {
    auto it = twins.find(value);
    return it == twins.end() ? value : it->second;
  };
  auto isTwin = [&](Value a, Value b) { return success(getTwin(a) == b); };
  auto setTwin = [&](Value a, Value b) { twins[a] = b; };
  Block *body = pair.full.getBody();
  for (auto [a, b] : llvm::zip_equal(pair.masked.getBody()->getArguments(),
                                     body->getArguments()))
    setTwin(a, b);
  auto other = body->begin();
  for (Operation &op : *pair.masked.getBody()) {
    if (&op == pair.mask)
      setTwin(pair.mask.getResult(), getTwin(pair.mask.getScores()));
    if (pair.masking.contains(&op))
      continue;
    if (other == body->end() || !OperationEquivalence::isEquivalentTo(
                                    &op, &*other, isTwin, setTwin,
                                    OperationEquivalence::IgnoreLocations))
      return false;
    ++other;
  }
  return other == body->end();
}

static std::optional<LoopPair> matchPair(scf::ForOp masked) {
  LoopPair pair;
  pair.masked = masked;
  auto masks = llvm::to_vector(masked.getBody()->getOps<MaskBandOp>());
  // A loop of one trip has the first tile, which `attn-overlap-softmax` takes
  // out of it.
  if (masks.size() != 1 || masked->use_empty() || runsAtMostOnce(masked))
    return std::nullopt;
  pair.mask = masks.front();
  pair.full = dyn_cast<scf::ForOp>(*masked->user_begin());
  if (!pair.full || !areAdjacent(masked, pair.full) ||
      pair.full.getStep() != masked.getStep() || !continues(masked, pair.full))
    return std::nullopt;
  collectMasking(pair);
  if (!isSameButForMask(pair))
    return std::nullopt;
  return pair;
}

/// The most columns of a matrix that the loop carries.
static int64_t getNumColumns(scf::ForOp loop) {
  int64_t columns = 0;
  for (Value carried : loop.getResults())
    if (auto type = dyn_cast<VectorType>(carried.getType());
        type && type.getRank() == 2)
      columns = std::max(columns, type.getDimSize(1));
  return columns;
}

/// Masks only before `end`.
static void guardMask(LoopPair &pair, Value end) {
  Location loc = pair.mask.getLoc();
  OpBuilder builder(pair.mask);
  Value isPartial =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                            pair.masked.getInductionVar(), end);
  auto ifOp = scf::IfOp::create(builder, loc, pair.mask.getType(), isPartial,
                                /*withElseRegion=*/true);
  pair.mask.getResult().replaceAllUsesWith(ifOp.getResult(0));
  for (Operation *op : pair.masking)
    op->moveBefore(ifOp.thenBlock(), ifOp.thenBlock()->begin());
  builder.setInsertionPointToEnd(ifOp.thenBlock());
  scf::YieldOp::create(builder, loc, pair.mask.getResult());
  builder.setInsertionPointToEnd(ifOp.elseBlock());
  scf::YieldOp::create(builder, loc, pair.mask.getScores());
}

static void merge(LoopPair &pair) {
  Location loc = pair.masked.getLoc();
  Value end = pair.masked.getUpperBound();
  // Bounds of the second loop may be made between the two.
  pair.masked->moveBefore(pair.full);
  OpBuilder builder(pair.masked);
  guardMask(pair, end);
  pair.masked.setLowerBound(
      arith::MinSIOp::create(builder, loc, pair.masked.getLowerBound(), end));
  pair.masked.setUpperBound(
      arith::MaxSIOp::create(builder, loc, end, pair.full.getUpperBound()));
  pair.full.replaceAllUsesWith(pair.masked.getResults());
  pair.full.erase();
}

namespace {

struct AttnMergeKeyLoops
    : attn::impl::AttnMergeKeyLoopsPassBase<AttnMergeKeyLoops> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    int64_t minColumns = schedule ? schedule.getSharedLoopColumns()
                                  : ScheduleDefaults::sharedLoopColumns;
    std::vector<LoopPair> pairs;
    getOperation()->walk([&](scf::ForOp loop) {
      if (getNumColumns(loop) < minColumns)
        return;
      if (std::optional<LoopPair> pair = matchPair(loop))
        pairs.push_back(*pair);
    });
    for (LoopPair &pair : pairs)
      merge(pair);
  }
};

} // namespace
