//===- GuardHiddenValues.cpp - attn-guard-hidden-values -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key that one row of a tile sees and another does not has weight 0 in the
// other row, and 0 * NaN and 0 * inf are NaN: a matrix product lets what a row
// must not see reach it. So:
//
//   write all rows
//   hurt[r] = an accumulator of r is not finite, and its sum of weights is a
//             number
//   if (any row is hurt)
//     for some columns at a time
//       if (a value of a partly hidden tile is not finite)
//         for key j, while a hurt row is not all NaN
//           a[r] += visible(r, j) ? p[r][j] * v[j] : nothing
//         write hurt rows once more
//
// which goes key by key, on vector units, and touches only visible values. It
// runs where V has NaN or infinity near the diagonal of a mask, and costs
// everybody else one addition per accumulator and query tile. Few columns at a
// time and a loop around them, since nobody waits for this code but the
// assembler; behind the write, since no register is free before.
//
//===----------------------------------------------------------------------===//

#include "passes/MaskedKeyLoops.h"
#include "passes/Passes.h"
#include "passes/RowVectors.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNGUARDHIDDENVALUESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// How much the recomputation takes at a time: columns of the result, for each
/// of which all scores are computed anew; columns of Q and K; and keys until it
/// asks whether there is anything left to compute.
struct Chunks {
  explicit Chunks(ScheduleAttr schedule) {
    if (!schedule)
      return;
    columns = schedule.getRepairColumns();
    queryColumns = schedule.getRepairQueryColumns();
    keys = schedule.getRepairKeys();
  }
  int64_t columns = ScheduleDefaults::repairColumns;
  int64_t queryColumns = ScheduleDefaults::repairQueryColumns;
  int64_t keys = ScheduleDefaults::repairKeys;
};

/// Writes the recomputation behind the write.
class Guard {
public:
  /// `loops` are the masked ones of a chain that ends with `last`.
  Guard(ArrayRef<MaskedKeyLoop> loops, scf::ForOp last,
        AccumulatorOutput &output, Chunks chunks)
      : loops(loops), found(loops.front()), last(last), output(output),
        chunks(chunks), builder(last.getContext()), loc(last.getLoc()),
        f32(builder.getF32Type()) {
    auto type = cast<VectorType>(last.getResult(found.accumulator).getType());
    rows = type.getDimSize(0);
    columns = type.getDimSize(1);
    partType = VectorType::get({rows, std::min(columns, chunks.columns)}, f32);
  }

  void build();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  VectorType rowType(Type element) { return VectorType::get({rows}, element); }
  Value splat(VectorType type, double value) {
    return createSplat(builder, loc, type, value);
  }
  Value broadcast(Value value, VectorType type) {
    return vector::BroadcastOp::create(builder, loc, type, value);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  /// One value per row, for each column computed at a time.
  Value overColumns(Value row) {
    return broadcastRows(builder, loc, row, partType.getDimSize(1));
  }
  bool columnsAreInside() { return columns % partType.getDimSize(1) == 0; }
  Value read(vector::TransferReadOp like, Value position, Value column,
             VectorType type, bool isInside);
  Value readValue(Value key, Value column);
  Value sumColumns(Value accumulators);
  Value findRowSum();
  Value findHurt();
  Value anyOf(Value condition);
  Value getNumKeys();
  Value loopOver(Value first, Value end, int64_t step, Value init,
                 llvm::function_ref<Value(Value number, Value carried)> body);
  std::pair<Value, Value> getKeys(MaskedKeyLoop masked, Value numKeys);
  Value findCause(Value column, Value numKeys);
  Value scoreOf(Value key);
  Value isVisible(Value key);
  Value addKey(Value key, Value column, Value sums, Value shift);
  Value isOpen(Value sums, Value isHurt);
  Value sumKeys(Value column, Value numKeys, Value shift, Value isHurt);
  void writeHurt(Value column, Value sums, Value isHurt);

  ArrayRef<MaskedKeyLoop> loops;
  MaskedKeyLoop found;
  scf::ForOp last;
  AccumulatorOutput &output;
  Chunks chunks;
  OpBuilder builder;
  Location loc;
  Type f32;
  int64_t rows, columns;
  /// Accumulators of the recomputation.
  VectorType partType;
};

} // namespace

/// The dimension of the memref that result `number` of a transfer's map names.
template <typename OpTy>
static unsigned getDim(OpTy transfer, unsigned number) {
  AffineMap map = transfer.getPermutationMap();
  return cast<AffineDimExpr>(map.getResult(number)).getPosition();
}

/// `value`, which pure ops compute in `loop`, in the trip that starts at
/// `start`.
static Value cloneForTrip(OpBuilder &builder, Value value, scf::ForOp loop,
                          Value start) {
  if (value == loop.getInductionVar())
    return start;
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op))
    return value;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneForTrip(builder, operand, loop, start));
  return builder.clone(*op, mapping)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

/// Elements in f32 from where `like` reads, with its row and its column
/// replaced by these.
Value Guard::read(vector::TransferReadOp like, Value position, Value column,
                  VectorType type, bool isInside) {
  SmallVector<Value> indices(like.getIndices());
  indices[getDim(like, 0)] = position;
  indices[getDim(like, 1)] = column;
  // A single row is a key, which the loop keeps inside.
  Value values = vector::TransferReadOp::create(
      builder, loc, type.clone(like.getVectorType().getElementType()),
      like.getBase(), indices, like.getPermutationMapAttr(), like.getPadding(),
      /*mask=*/Value(),
      builder.getBoolArrayAttr({type.getDimSize(0) == 1, isInside}));
  return arith::ExtFOp::create(builder, loc, type, values);
}

/// The value of a key in some columns.
Value Guard::readValue(Value key, Value column) {
  auto type = VectorType::get({1, partType.getDimSize(1)}, f32);
  return read(found.value, key, column, type,
              columnsAreInside() && found.value.getInBoundsValues()[1]);
}

/// Per row, what each thread holds of it added up.
Value Guard::sumColumns(Value accumulators) {
  auto perLane = vector::MultiDimReductionOp::create(
      builder, loc, accumulators, splat(rowType(f32), 0.0),
      ArrayRef<bool>{false, true}, vector::CombiningKind::ADD);
  perLane->setAttr(attn_gpu::kPartialAttr, builder.getUnitAttr());
  return perLane;
}

/// The whole sums of weights, where the write needs them anyhow.
Value Guard::findRowSum() {
  for (Operation *user : last.getResult(found.sum).getUsers())
    if (isa<attn_gpu::RowSumOp>(user) &&
        user->getBlock() == output.write->getBlock() &&
        user->isBeforeInBlock(output.write))
      return user->getResult(0);
  return {};
}

/// Which rows have accumulators that are not finite though their sum of weights
/// is a number. A NaN is in one lane of a row, so all of them are asked.
Value Guard::findHurt() {
  using Predicate = arith::CmpFPredicate;
  auto wholeRow = [&](Value perLane) -> Value {
    return attn_gpu::RowSumOp::create(builder, loc, rowType(f32), perLane);
  };
  Value perLane = sumColumns(last.getResult(found.accumulator));
  // 0 * x is 0 for every finite x, also for a large sum of them.
  Value zeros = wholeRow(
      arith::MulFOp::create(builder, loc, perLane, splat(rowType(f32), 0.0)));
  Value sum = findRowSum();
  if (!sum)
    sum = wholeRow(last.getResult(found.sum));
  return arith::AndIOp::create(builder, loc,
                               compare(Predicate::UNO, zeros, zeros),
                               compare(Predicate::ORD, sum, sum));
}

Value Guard::anyOf(Value condition) {
  return attn_gpu::WarpAnyOp::create(builder, loc, builder.getI1Type(),
                                     condition);
}

Value Guard::getNumKeys() {
  return memref::DimOp::create(builder, loc, found.key.getBase(),
                               getDim(found.key, 0));
}

/// A loop over keys or columns that carries one value.
Value Guard::loopOver(Value first, Value end, int64_t step, Value init,
                      llvm::function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, first, end, index(step), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(builder, loc, next);
  return loop.getResult(0);
}

/// The first key of the tiles that a loop masks, and the one behind them. Loops
/// may visit the last tile first, but go in steps of one tile either way. One
/// without trips may give too wide a range, which costs time only.
std::pair<Value, Value> Guard::getKeys(MaskedKeyLoop masked, Value numKeys) {
  scf::ForOp loop = masked.loop;
  Value key = masked.value.getIndices()[getDim(masked.value, 0)];
  Value one = cloneForTrip(builder, key, loop, loop.getLowerBound());
  Value last =
      arith::SubIOp::create(builder, loc, loop.getUpperBound(), loop.getStep());
  Value other = cloneForTrip(builder, key, loop, last);
  Value first = arith::MinSIOp::create(builder, loc, one, other);
  Value end = arith::AddIOp::create(
      builder, loc, arith::MaxSIOp::create(builder, loc, one, other),
      index(masked.value.getVectorType().getDimSize(0)));
  return {arith::MaxSIOp::create(builder, loc, first, index(0)),
          arith::MinSIOp::create(builder, loc, end, numKeys)};
}

/// Whether a value from `column` on, of a tile that is partly hidden, is not
/// finite. If none is, hurt rows are what they see.
Value Guard::findCause(Value column, Value numKeys) {
  Value zeros = splat(partType, 0.0);
  for (const MaskedKeyLoop &masked : loops) {
    auto [first, end] = getKeys(masked, numKeys);
    zeros = loopOver(first, end, 1, zeros, [&](Value key, Value carried) {
      Value wide = broadcast(readValue(key, column), partType);
      return math::FmaOp::create(builder, loc, wide, splat(partType, 0.0),
                                 carried)
          .getResult();
    });
  }
  Value sum = sumColumns(zeros);
  return anyOf(compare(arith::CmpFPredicate::UNO, sum, sum));
}

/// The scores of all rows with one key.
Value Guard::scoreOf(Value key) {
  auto chunkType = VectorType::get({rows, chunks.queryColumns}, f32);
  vector::TransferReadOp query = found.query;
  auto addColumns = [&](Value column, Value carried) -> Value {
    // Columns stay inside wherever those of the tile do.
    Value q = read(query, query.getIndices()[getDim(query, 0)], column,
                   chunkType, query.getInBoundsValues()[1]);
    Value k = read(found.key, key, column,
                   VectorType::get({1, chunks.queryColumns}, f32),
                   found.key.getInBoundsValues()[1]);
    return math::FmaOp::create(builder, loc, q, broadcast(k, chunkType),
                               carried);
  };
  Value products =
      loopOver(index(0), index(query.getVectorType().getDimSize(1)),
               chunks.queryColumns, splat(chunkType, 0.0), addColumns);
  return vector::MultiDimReductionOp::create(
      builder, loc, products, splat(rowType(f32), 0.0),
      ArrayRef<bool>{false, true}, vector::CombiningKind::ADD);
}

/// Whether each row sees `key`. A loop may have dropped a bound that hides
/// nothing of its own tiles, so all of them are asked.
Value Guard::isVisible(Value key) {
  llvm::SetVector<Value> lower, upper;
  for (const MaskedKeyLoop &loop : loops) {
    lower.insert(loop.lower);
    upper.insert(loop.upper);
  }
  Value position = broadcast(key, rowType(builder.getIndexType()));
  Value result;
  auto require = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    Value holds = arith::CmpIOp::create(builder, loc, predicate, a, b);
    result =
        result ? arith::AndIOp::create(builder, loc, result, holds) : holds;
  };
  for (Value bound : lower)
    require(arith::CmpIPredicate::sle, bound, position);
  for (Value bound : upper)
    require(arith::CmpIPredicate::slt, position, bound);
  return result;
}

/// sums + weight * value, for the rows that see `key`.
Value Guard::addKey(Value key, Value column, Value sums, Value shift) {
  Value power = math::FmaOp::create(
      builder, loc, scoreOf(key), broadcast(found.factor, rowType(f32)), shift);
  Value weight = math::Exp2Op::create(builder, loc, power);
  // As the matrix product has them: else a row's infinity times a weight that
  // is rounded to zero would depend on what the row does not see.
  Type element = found.value.getVectorType().getElementType();
  Value rounded =
      arith::TruncFOp::create(builder, loc, rowType(element), weight);
  weight = arith::ExtFOp::create(builder, loc, rowType(f32), rounded);
  Value value = broadcast(readValue(key, column), partType);
  Value sum =
      math::FmaOp::create(builder, loc, overColumns(weight), value, sums);
  return arith::SelectOp::create(builder, loc, overColumns(isVisible(key)), sum,
                                 sums);
}

/// Whether a hurt row has a sum that is not NaN, which no more keys can change.
Value Guard::isOpen(Value sums, Value isHurt) {
  Value largest = vector::MultiDimReductionOp::create(
      builder, loc, sums, splat(rowType(f32), NAN), ArrayRef<bool>{false, true},
      vector::CombiningKind::MAXNUMF);
  Value isNumber = compare(arith::CmpFPredicate::ORD, largest, largest);
  return anyOf(arith::AndIOp::create(builder, loc, isNumber, isHurt));
}

/// The accumulators of all rows from `column` on. Where all of V is NaN, the
/// first keys settle it.
Value Guard::sumKeys(Value column, Value numKeys, Value shift, Value isHurt) {
  auto addBlock = [&](Value first, Value sums) -> Value {
    auto ifOpen =
        scf::IfOp::create(builder, loc, partType, isOpen(sums, isHurt),
                          /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(ifOpen.elseBlock());
    scf::YieldOp::create(builder, loc, sums);
    builder.setInsertionPointToStart(ifOpen.thenBlock());
    Value end = arith::MinSIOp::create(
        builder, loc,
        arith::AddIOp::create(builder, loc, first, index(chunks.keys)),
        numKeys);
    Value next = loopOver(first, end, 1, sums, [&](Value key, Value carried) {
      return addKey(key, column, carried, shift);
    });
    scf::YieldOp::create(builder, loc, next);
    return ifOpen.getResult(0);
  };
  return loopOver(index(0), numKeys, chunks.keys, splat(partType, 0.0),
                  addBlock);
}

/// `value`, which is the same in all columns, with fewer of them.
static Value narrow(OpBuilder &builder, Value value, int64_t columns) {
  auto type = cast<VectorType>(value.getType());
  auto narrower =
      VectorType::get({type.getDimSize(0), columns}, type.getElementType());
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    return vector::BroadcastOp::create(builder, value.getLoc(), narrower,
                                       broadcast.getSource());
  DenseElementsAttr splat;
  matchPattern(value, m_Constant(&splat));
  return arith::ConstantOp::create(
      builder, value.getLoc(),
      DenseElementsAttr::get(narrower, splat.getSplatValue<Attribute>()));
}

/// Does to these accumulators what is done to all, and writes the hurt rows.
void Guard::writeHurt(Value column, Value sums, Value isHurt) {
  Value value = sums;
  Value before = last.getResult(found.accumulator);
  for (Operation *op : output.ops) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, operand == before ? value
                                             : narrow(builder, operand,
                                                      partType.getDimSize(1)));
    Operation *copy = builder.clone(*op, mapping);
    before = op->getResult(0);
    copy->getResult(0).setType(
        partType.clone(cast<VectorType>(before.getType()).getElementType()));
    value = copy->getResult(0);
  }
  vector::TransferWriteOp write = output.write;
  SmallVector<Value> indices(write.getIndices());
  Value &first = indices[getDim(write, 1)];
  first = arith::AddIOp::create(builder, loc, first, column);
  SmallVector<bool> inside = write.getInBoundsValues();
  vector::TransferWriteOp::create(
      builder, loc, value, write.getBase(), indices,
      write.getPermutationMapAttr(), overColumns(isHurt),
      builder.getBoolArrayAttr({inside[0], inside[1] && columnsAreInside()}));
}

void Guard::build() {
  builder.setInsertionPoint(output.write);
  Value isHurt = findHurt();
  builder.setInsertionPointAfter(output.write);
  auto ifHurt = scf::IfOp::create(builder, loc, anyOf(isHurt));
  builder.setInsertionPointToStart(ifHurt.thenBlock());
  // Another lane may write an element this time.
  attn_gpu::WarpBarrierOp::create(builder, loc);
  Value numKeys = getNumKeys();
  Value shift =
      createShift(builder, loc, last.getResult(found.maximum), found.factor);
  auto loop = scf::ForOp::create(builder, loc, index(0), index(columns),
                                 index(partType.getDimSize(1)));
  builder.setInsertionPointToStart(loop.getBody());
  Value column = loop.getInductionVar();
  auto ifCaused = scf::IfOp::create(builder, loc, findCause(column, numKeys));
  builder.setInsertionPointToStart(ifCaused.thenBlock());
  Value sums = sumKeys(column, numKeys, shift, isHurt);
  writeHurt(column, sums, isHurt);
}

namespace {

struct AttnGuardHiddenValues
    : attn::impl::AttnGuardHiddenValuesPassBase<AttnGuardHiddenValues> {
  void runOnOperation() override {
    // One guard per chain of loops, whichever of its loops were masked.
    llvm::MapVector<Operation *, SmallVector<MaskedKeyLoop>> chains;
    getOperation().walk([&](MaskBandOp mask) {
      std::optional<MaskedKeyLoop> found = matchMaskedKeyLoop(mask);
      if (found && found->hidesFromSomeRows())
        chains[getLastKeyLoop(found->loop)].push_back(*found);
    });
    Chunks chunks(getOperation()->getAttrOfType<ScheduleAttr>(kScheduleAttr));
    for (auto &[op, loops] : chains) {
      auto last = cast<scf::ForOp>(op);
      Value accumulator = last.getResult(loops.front().accumulator);
      if (accumulator.use_empty())
        continue;
      std::optional<AccumulatorOutput> output =
          matchAccumulatorOutput(accumulator);
      if (!output) {
        last.emitOpError() << "expected accumulators that are scaled by row "
                              "and written, so that hidden values can be "
                              "kept out";
        return signalPassFailure();
      }
      Guard(loops, last, *output, chunks).build();
    }
  }
};

} // namespace
