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
//   bad[r] = an accumulator of r is not finite, and its sum of weights is a
//            number
//   if (any row is bad)
//     for some columns at a time
//       if (a value of a partly hidden tile is not finite)
//         for a block of keys, while a bad row that sees one is not all NaN
//           p = the weights of all rows, from the slice that computed them
//           for key j of the block
//             a[r] += visible(r, j) ? p[r][j] * v[j] : nothing
//         write bad rows once more
//
// which goes key by key, on vector units, and touches only visible values. It
// runs where V has NaN or infinity near the edge of a mask, and costs everybody
// else one addition per accumulator and query tile. It stands behind the write,
// since no register is free before.
//
//===----------------------------------------------------------------------===//

#include "passes/KeyBlock.h"
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
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numeric>

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNGUARDHIDDENVALUESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static constexpr int64_t kThreadsPerWarp = 32;
/// Columns of a fragment come in units of this.
static constexpr int64_t kColumnUnit = 8;

namespace {

/// What becomes of the accumulators behind the loop.
struct AccumulatorOutput {
  /// Elementwise ops, from the accumulators on, each on the one before.
  SmallVector<Operation *> ops;
  vector::TransferWriteOp write;
};

/// A loop of which values must be kept out.
struct GuardedLoop {
  TileLoopOp loop;
  /// The product of the weights with a tile of values.
  vector::ContractionOp product;
  vector::TransferReadOp value;
  AccumulatorOutput output;

  Value getCarried(CarriedRole role) {
    std::optional<unsigned> number = loop.findCarried(role);
    return number ? loop.getResult(*number) : Value();
  }
};

/// How much is computed again at a time.
struct RepairLimits {
  /// Warps of a worker, and accumulators of each of their threads.
  int64_t warps = 1;
  int64_t accumulators = ScheduleDefaults::repairAccumulators;
  int64_t keys = ScheduleDefaults::repairKeys;
};

/// Writes the recomputation behind the write.
class Guard {
public:
  Guard(GuardedLoop &found, const RepairLimits &limits);

  LogicalResult build();

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
  Value add(Value a, Value b) {
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  }
  Value sub(Value a, Value b) {
    return builder.createOrFold<arith::SubIOp>(loc, a, b);
  }
  /// One value per row, for each column computed at a time.
  Value overColumns(Value row) {
    return broadcastRows(builder, loc, row, partType.getDimSize(1));
  }
  bool columnsAreInside() { return columns % partType.getDimSize(1) == 0; }
  Value readValue(Value key, Value column);
  Value sumOfThread(Value fragment);
  Value findSum();
  Value findBad();
  Value findRepairs(Value isBad);
  Value anyOf(Value condition);
  void enterIf(Value condition);
  Value loopOver(Value first, Value end, int64_t step, Value init,
                 llvm::function_ref<Value(Value number, Value carried)> body);
  std::pair<Value, Value> getKeys(unsigned segment);
  Value findCause(Value column);
  Value isOpen(Value sums);
  Value getWeights(KeyBlock &block, Value visible);
  Value addKey(Value weights, Value number, Value key, Value column,
               Value sums);
  Value addBlock(Value first, Value column, Value sums);
  void writeRepairs(Value column, Value sums);

  GuardedLoop &found;
  TileLoopOp loop;
  OpBuilder builder;
  Location loc;
  Type f32;
  int64_t rows, columns, keys;
  /// Accumulators of the recomputation.
  VectorType partType;
  /// Keys of the tensors, and the rows to repair.
  Value numKeys, repairs;
  bool isBlocked = false;
};

} // namespace

/// The columns of `columns` that are computed at a time, in equal parts.
static int64_t getPartColumns(int64_t rows, int64_t columns,
                              const RepairLimits &limits) {
  int64_t most = limits.accumulators * kThreadsPerWarp * limits.warps / rows;
  most = std::max(most / kColumnUnit, int64_t{1}) * kColumnUnit;
  int64_t parts = llvm::divideCeilSigned(columns, most);
  int64_t units = llvm::divideCeilSigned(columns, parts * kColumnUnit);
  return units * kColumnUnit;
}

Guard::Guard(GuardedLoop &found, const RepairLimits &limits)
    : found(found), loop(found.loop), builder(found.loop.getContext()),
      loc(found.loop.getLoc()), f32(builder.getF32Type()),
      keys(std::gcd(limits.keys, static_cast<int64_t>(found.loop.getStep()))) {
  auto type = cast<VectorType>(found.product.getResultType());
  rows = type.getDimSize(0);
  columns = type.getDimSize(1);
  partType =
      VectorType::get({rows, getPartColumns(rows, columns, limits)}, f32);
}

/// The value of a key in some columns.
Value Guard::readValue(Value key, Value column) {
  vector::TransferReadOp like = found.value;
  auto type = VectorType::get({1, partType.getDimSize(1)}, f32);
  // The place of a tile, but for its row and its column, is the same for all.
  SmallVector<Value> indices(like.getIndices());
  indices[getTransferDim(like, 0)] = key;
  indices[getTransferDim(like, 1)] = column;
  Value values = vector::TransferReadOp::create(
      builder, loc, type.clone(like.getVectorType().getElementType()),
      like.getBase(), indices, like.getPermutationMapAttr(), like.getPadding(),
      /*mask=*/Value(),
      builder.getBoolArrayAttr(
          {true, columnsAreInside() && like.getInBoundsValues()[1]}));
  return arith::ExtFOp::create(builder, loc, type, values);
}

/// Per row, what each thread holds of it added up.
Value Guard::sumOfThread(Value fragment) {
  return attn_gpu::PartialSumOp::create(builder, loc, rowType(f32), fragment);
}

/// The whole sums of weights, at the write.
Value Guard::findSum() {
  if (Value sum = found.getCarried(CarriedRole::Sum))
    return sum;
  Value partial = found.getCarried(CarriedRole::PartialSum);
  // It may be there anyhow.
  for (Operation *user : partial.getUsers())
    if (isa<attn_gpu::RowSumOp>(user) &&
        user->getBlock() == found.output.write->getBlock() &&
        user->isBeforeInBlock(found.output.write))
      return user->getResult(0);
  return attn_gpu::RowSumOp::create(builder, loc, rowType(f32), partial);
}

/// Which rows have accumulators that are not finite though their sum of weights
/// is a number. A NaN is in one lane of a row, so all of them are asked.
Value Guard::findBad() {
  using Predicate = arith::CmpFPredicate;
  Value perLane = sumOfThread(found.getCarried(CarriedRole::Accumulator));
  // 0 * x is 0 for every finite x, also for a large sum of them.
  Value zeros = attn_gpu::RowSumOp::create(
      builder, loc, rowType(f32),
      arith::MulFOp::create(builder, loc, perLane, splat(rowType(f32), 0.0)));
  Value sum = findSum();
  return arith::AndIOp::create(builder, loc,
                               compare(Predicate::UNO, zeros, zeros),
                               compare(Predicate::ORD, sum, sum));
}

/// The bad rows that are written.
Value Guard::findRepairs(Value isBad) {
  vector::TransferWriteOp write = found.output.write;
  if (write.getInBoundsValues()[0])
    return isBad;
  unsigned dim = getTransferDim(write, 0);
  VectorType type = rowType(builder.getIndexType());
  Value row = arith::AddIOp::create(builder, loc,
                                    vector::StepOp::create(builder, loc, type),
                                    broadcast(write.getIndices()[dim], type));
  Value numRows = memref::DimOp::create(builder, loc, write.getBase(), dim);
  Value isPresent = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, row, broadcast(numRows, type));
  return arith::AndIOp::create(builder, loc, isBad, isPresent);
}

Value Guard::anyOf(Value condition) {
  return attn_gpu::WarpAnyOp::create(builder, loc, builder.getI1Type(),
                                     condition);
}

/// What follows runs only under `condition`.
void Guard::enterIf(Value condition) {
  auto branch = scf::IfOp::create(builder, loc, condition);
  builder.setInsertionPointToStart(branch.thenBlock());
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

/// The first key of the tiles of a segment, and the one behind them; none where
/// the segment has no iteration.
std::pair<Value, Value> Guard::getKeys(unsigned segment) {
  Value begin = segment == 0 ? loop.getFrom() : loop.getEnds()[segment - 1];
  Value end = loop.getEnds()[segment];
  if (loop.getDescending()) {
    Value behind = add(loop.getFirst(), index(1));
    std::swap(begin, end);
    begin = sub(behind, begin);
    end = sub(behind, end);
  } else {
    begin = add(loop.getFirst(), begin);
    end = add(loop.getFirst(), end);
  }
  Value step = index(loop.getStep());
  auto toKey = [&](Value tile) {
    return builder.createOrFold<arith::MulIOp>(loc, tile, step);
  };
  return {arith::MaxSIOp::create(builder, loc, toKey(begin), index(0)),
          arith::MinSIOp::create(builder, loc, toKey(end), numKeys)};
}

/// Whether a value from `column` on, of a tile that is partly hidden, is not
/// finite. If none is, bad rows are what they see.
Value Guard::findCause(Value column) {
  auto type = VectorType::get({1, partType.getDimSize(1)}, f32);
  Value zero = splat(type, 0.0);
  Value zeros = zero;
  for (unsigned i = 0; i < loop.getNumSegments(); ++i) {
    if (loop.getKind(i) == SegmentKind::Full)
      continue;
    auto [first, end] = getKeys(i);
    zeros = loopOver(first, end, 1, zeros, [&](Value key, Value carried) {
      return math::FmaOp::create(builder, loc, readValue(key, column), zero,
                                 carried)
          .getResult();
    });
  }
  Value sum = sumOfThread(broadcast(zeros, partType));
  return anyOf(compare(arith::CmpFPredicate::UNO, sum, sum));
}

/// Which rows to repair have a sum that is not NaN, which no more keys can
/// change.
Value Guard::isOpen(Value sums) {
  Value largest = vector::MultiDimReductionOp::create(
      builder, loc, sums, splat(rowType(f32), NAN), ArrayRef<bool>{false, true},
      vector::CombiningKind::MAXNUMF);
  Value isNumber = compare(arith::CmpFPredicate::ORD, largest, largest);
  return arith::AndIOp::create(builder, loc, isNumber, repairs);
}

/// The weights of a block as the matrix product has them, rounded: else a row's
/// infinity times a weight that is rounded to zero would depend on what the row
/// does not see. Those of hidden keys are negative.
Value Guard::getWeights(KeyBlock &block, Value visible) {
  Value weights = block.compute(found.product.getLhs());
  if (!weights)
    return {};
  auto type = cast<VectorType>(weights.getType()).clone(f32);
  if (weights.getType() != type)
    weights = arith::ExtFOp::create(builder, loc, type, weights);
  return arith::SelectOp::create(builder, loc, visible, weights,
                                 splat(cast<VectorType>(type), -1.0));
}

/// sums + weight * value, for the rows that see `key`, which is the one of this
/// number in the block.
Value Guard::addKey(Value weights, Value number, Value key, Value column,
                    Value sums) {
  // A column of a fragment as one value per row: all else is hidden.
  VectorType bounds = rowType(builder.getIndexType());
  Value alone = MaskBandOp::create(builder, loc, weights, index(0),
                                   broadcast(number, bounds),
                                   broadcast(add(number, index(1)), bounds));
  Value weight = vector::MultiDimReductionOp::create(
      builder, loc, alone, splat(rowType(f32), -INFINITY),
      ArrayRef<bool>{false, true}, vector::CombiningKind::MAXNUMF);
  Value isVisible =
      compare(arith::CmpFPredicate::OGE, weight, splat(rowType(f32), 0.0));
  Value value = broadcast(readValue(key, column), partType);
  Value sum =
      math::FmaOp::create(builder, loc, overColumns(weight), value, sums);
  return arith::SelectOp::create(builder, loc, overColumns(isVisible), sum,
                                 sums);
}

/// The sums with the block of keys from `first` on, if that can change a row
/// that is to be repaired. Where all of V is NaN, the first keys settle it.
Value Guard::addBlock(Value first, Value column, Value sums) {
  KeyBlock block(builder, loop, keys, first);
  if (std::optional<unsigned> maximum = loop.findCarried(CarriedRole::Maximum))
    block.replace(loop.getYield().getOperand(*maximum),
                  loop.getResult(*maximum));
  auto refuse = [&] {
    if (!std::exchange(isBlocked, true))
      block.getBlocker()->emitOpError()
          << "expected weights that follow from a tile's keys alone, so that "
             "hidden values can be kept out";
    return sums;
  };
  Value visible = block.computeVisible(rows);
  if (!visible)
    return refuse();
  auto type = VectorType::get({rows, keys}, f32);
  Value numVisible = sumOfThread(arith::SelectOp::create(
      builder, loc, visible, splat(type, 1.0), splat(type, 0.0)));
  Value isSeen =
      compare(arith::CmpFPredicate::OGT, numVisible, splat(rowType(f32), 0.0));
  Value matters = arith::AndIOp::create(builder, loc, isSeen, isOpen(sums));
  auto branch = scf::IfOp::create(builder, loc, partType, anyOf(matters),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, sums);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value next = sums;
  if (Value weights = getWeights(block, visible)) {
    Value end =
        arith::MinSIOp::create(builder, loc, index(keys), sub(numKeys, first));
    next = loopOver(index(0), end, 1, sums, [&](Value number, Value carried) {
      return addKey(weights, number, add(first, number), column, carried);
    });
  } else {
    refuse();
  }
  scf::YieldOp::create(builder, loc, next);
  return branch.getResult(0);
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

/// Does to these accumulators what is done to all, and writes the rows to
/// repair.
void Guard::writeRepairs(Value column, Value sums) {
  Value value = sums;
  Value before = found.getCarried(CarriedRole::Accumulator);
  for (Operation *op : found.output.ops) {
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
  vector::TransferWriteOp write = found.output.write;
  SmallVector<Value> indices(write.getIndices());
  Value &first = indices[getTransferDim(write, 1)];
  first = add(first, column);
  SmallVector<bool> inside = write.getInBoundsValues();
  vector::TransferWriteOp::create(
      builder, loc, value, write.getBase(), indices,
      write.getPermutationMapAttr(), overColumns(repairs),
      builder.getBoolArrayAttr({inside[0], inside[1] && columnsAreInside()}));
}

LogicalResult Guard::build() {
  builder.setInsertionPoint(found.output.write);
  Value isBad = findBad();
  builder.setInsertionPointAfter(found.output.write);
  enterIf(anyOf(isBad));
  // Another lane may write an element this time.
  attn_gpu::WarpBarrierOp::create(builder, loc);
  repairs = findRepairs(isBad);
  if (repairs != isBad)
    enterIf(anyOf(repairs));
  numKeys = memref::DimOp::create(builder, loc, found.value.getBase(),
                                  getTransferDim(found.value, 0));
  auto columnLoop = scf::ForOp::create(builder, loc, index(0), index(columns),
                                       index(partType.getDimSize(1)));
  builder.setInsertionPointToStart(columnLoop.getBody());
  Value column = columnLoop.getInductionVar();
  enterIf(findCause(column));
  Value sums = loopOver(index(0), numKeys, keys, splat(partType, 0.0),
                        [&](Value first, Value carried) {
                          return addBlock(first, column, carried);
                        });
  writeRepairs(column, sums);
  return failure(isBlocked);
}

//===----------------------------------------------------------------------===//
// What is to be guarded
//===----------------------------------------------------------------------===//

/// Whether `mask` hides keys that exist.
static bool hidesKeys(TileMaskOpInterface mask) {
  auto byBand = dyn_cast<MaskBandOp>(mask.getOperation());
  auto band = byBand ? byBand.getUpper().getDefiningOp<BandOp>() : BandOp();
  return !band || band.getUpper() != byBand.getUpper() ||
         band.getLower() != byBand.getLower() || band.getMaskAttr();
}

/// Whether `value` has one value per row, or one at all.
static bool isSameInAllColumns(Value value) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.isSplat();
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  auto source = broadcast ? dyn_cast<VectorType>(broadcast.getSourceType())
                          : VectorType();
  return broadcast && (!source || source.getShape().back() == 1);
}

/// Follows `value` to where it is written. Nothing where anything but values
/// that are the same in all columns joins it on the way.
static std::optional<AccumulatorOutput> matchOutput(Value value) {
  AccumulatorOutput output;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto write = dyn_cast<vector::TransferWriteOp>(user)) {
      AffineMap map = write.getPermutationMap();
      if (write.getMask() || map.getNumResults() != 2 ||
          !map.isProjectedPermutation())
        return std::nullopt;
      output.write = write;
      return output;
    }
    if (!OpTrait::hasElementwiseMappableTraits(user) ||
        user->getNumResults() != 1 ||
        !llvm::all_of(user->getOperands(), [&](Value operand) {
          return operand == value || isSameInAllColumns(operand);
        }))
      return std::nullopt;
    output.ops.push_back(user);
    value = user->getResult(0);
  }
  return std::nullopt;
}

/// Whether the tiles that `read` reads differ in their first row only.
static bool readsRowsOfOneTensor(vector::TransferReadOp read, TileLoopOp loop) {
  if (read.getMask() || !read.getPermutationMap().isProjectedPermutation())
    return false;
  unsigned row = getTransferDim(read, 0), column = getTransferDim(read, 1);
  for (auto [dim, index] : llvm::enumerate(read.getIndices()))
    if (dim == row      ? index != loop.getPosition()
        : dim == column ? !matchPattern(index, m_Zero())
                        : !loop.isDefinedOutsideOfLoop(index))
      return false;
  return true;
}

/// Completes `found`; says what is in the way, if anything.
static std::optional<StringRef> match(GuardedLoop &found) {
  TileLoopOp loop = found.loop;
  if (loop.getAxis() != LoopAxis::Keys)
    return "expected a loop over keys";
  unsigned number = *loop.findCarried(CarriedRole::Accumulator);
  found.product =
      loop.getYield().getOperand(number).getDefiningOp<vector::ContractionOp>();
  if (found.product)
    found.value =
        found.product.getRhs().getDefiningOp<vector::TransferReadOp>();
  if (!found.value || !readsRowsOfOneTensor(found.value, loop))
    return "expected accumulators of a product with a tile of values";
  if (!found.getCarried(CarriedRole::Sum) &&
      !found.getCarried(CarriedRole::PartialSum))
    return "expected a sum of weights beside the accumulators";
  std::optional<AccumulatorOutput> output = matchOutput(loop.getResult(number));
  if (!output)
    return "expected accumulators that are scaled by row and written";
  found.output = *output;
  return std::nullopt;
}

/// Guards `loop`, if it has accumulators that hidden values reach.
static LogicalResult guardLoop(TileLoopOp loop, const RepairLimits &limits) {
  std::optional<unsigned> accumulator =
      loop.findCarried(CarriedRole::Accumulator);
  if (!accumulator || loop.getResult(*accumulator).use_empty() ||
      llvm::none_of(loop.getBody()->getOps<TileMaskOpInterface>(), hidesKeys))
    return success();
  GuardedLoop found{loop, {}, {}, {}};
  if (std::optional<StringRef> reason = match(found))
    return loop.emitOpError()
           << *reason << ", so that hidden values can be kept out";
  return Guard(found, limits).build();
}

/// Whether the kernel has copies already: then it has been guarded before, and
/// is perhaps finished.
static bool hasCopies(Operation *kernel) {
  return kernel
      ->walk([](attn_gpu::ChannelOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static RepairLimits getLimits(Operation *kernel) {
  RepairLimits limits;
  if (auto warps =
          kernel->getAttrOfType<IntegerAttr>(attn_gpu::kWarpsPerWorkerAttr))
    limits.warps = warps.getInt();
  if (auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttr)) {
    limits.accumulators = schedule.getRepairAccumulators();
    limits.keys = schedule.getRepairKeys();
  }
  return limits;
}

namespace {

struct AttnGuardHiddenValues
    : attn::impl::AttnGuardHiddenValuesPassBase<AttnGuardHiddenValues> {
  void runOnOperation() override {
    if (hasCopies(getOperation()))
      return;
    RepairLimits limits = getLimits(getOperation());
    SmallVector<TileLoopOp> loops;
    WalkResult masks = getOperation().walk([&](TileMaskOpInterface mask) {
      auto loop = dyn_cast<TileLoopOp>(mask->getParentOp());
      if (!loop) {
        mask->emitOpError() << "expected a mask in an attn.tile_loop, so that "
                               "hidden values can be kept out";
        return WalkResult::interrupt();
      }
      if (!llvm::is_contained(loops, loop))
        loops.push_back(loop);
      return WalkResult::advance();
    });
    if (masks.wasInterrupted())
      return signalPassFailure();
    for (TileLoopOp loop : loops)
      if (failed(guardLoop(loop, limits)))
        return signalPassFailure();
  }
};

} // namespace
