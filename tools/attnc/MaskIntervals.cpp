//===- MaskIntervals.cpp - Which keys a mask shows, in numbers ------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/MaskIntervals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using mlir::attn::BandMaskInterface;

namespace attnc {

namespace {

/// Asks a mask for one row after the other.
class MaskEvaluator {
public:
  MaskEvaluator(BandMaskInterface mask, int64_t queries, int64_t keys)
      : mask(mask), queries(queries), keys(keys), builder(mask.getContext()),
        loc(builder.getUnknownLoc()) {
    mask.getContext()->loadDialect<arith::ArithDialect>();
  }

  std::optional<KeyInterval> evaluate(int64_t row);

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  std::optional<int64_t> fold(Block &block, Value value);

  BandMaskInterface mask;
  int64_t queries, keys;
  OpBuilder builder;
  Location loc;
};

} // namespace

/// The number that `value`, made in `block` from constants alone, comes to.
std::optional<int64_t> MaskEvaluator::fold(Block &block, Value value) {
  DenseMap<Value, Attribute> known;
  for (Operation &op : block) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand));
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)) ||
        results.size() != op.getNumResults())
      return std::nullopt;
    for (auto [result, folded] : llvm::zip_equal(op.getResults(), results))
      known[result] = isa<Attribute>(folded)
                          ? cast<Attribute>(folded)
                          : known.lookup(cast<Value>(folded));
  }
  auto number = dyn_cast_if_present<IntegerAttr>(known.lookup(value));
  if (!number)
    return std::nullopt;
  return number.getValue().getSExtValue();
}

std::optional<KeyInterval> MaskEvaluator::evaluate(int64_t row) {
  Block block;
  builder.setInsertionPointToEnd(&block);
  Value position = index(row), seqlenQ = index(queries), seqlenK = index(keys);
  // The same for all batches and heads, as far as a reference can tell.
  mlir::attn::MaskPosition at{position, index(0), index(0), seqlenQ, seqlenK};
  Value lower = mask.lower(builder, loc, at, {});
  Value upper = mask.upper(builder, loc, at, {});
  KeyInterval interval{0, keys};
  for (auto [end, value] :
       {std::pair(&interval.first, lower), std::pair(&interval.last, upper)}) {
    // No value: the mask has no such end.
    if (!value)
      continue;
    std::optional<int64_t> number = fold(block, value);
    if (!number)
      return std::nullopt;
    *end = *number;
  }
  return interval;
}

FindIntervals findIntervals(mlir::attn::AttentionOp op) {
  BandMaskInterface mask = op.getMaskAttr();
  // What a launch gives the mask is no number here.
  if (!mask || !op.getMaskOperands().empty())
    return nullptr;
  return [mask](int64_t queries,
                int64_t keys) -> std::optional<std::vector<KeyInterval>> {
    MaskEvaluator evaluator(mask, queries, keys);
    std::vector<KeyInterval> intervals;
    for (int64_t row = 0; row < queries; ++row) {
      std::optional<KeyInterval> interval = evaluator.evaluate(row);
      if (!interval)
        return std::nullopt;
      intervals.push_back(*interval);
    }
    return intervals;
  };
}

} // namespace attnc
