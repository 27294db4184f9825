//===- VectorToNVVM.cpp - Rows, columns, masks and reductions -------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/Patterns.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace mlir::attn_gpu;

using Kind = FragmentLayout::Kind;

/// The lanes that share a row differ in bits 0 and 1 of their number.
static constexpr int64_t kQuadLanes[] = {1, 2};

/// `first` + the constant distance of every element, along one dimension.
static SmallVector<Value>
createCoordinates(ImplicitLocOpBuilder &b, const FragmentLayout &layout,
                  Value first, function_ref<int64_t(int64_t)> getDistance) {
  SmallVector<Value> result;
  for (int64_t i = 0, e = layout.getNumElements(); i < e; ++i) {
    int64_t distance = getDistance(i);
    result.push_back(
        distance == 0 ? first
                      : LLVM::AddOp::create(b, first, createI32(b, distance)));
  }
  return result;
}

namespace {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// step of one entry per row -> first row + constant
struct StepPattern : ThreadPattern<vector::StepOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(vector::StepOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto layout = getConverter().getLayout(op.getType());
    if (!layout) {
      // Counts columns; the shape cast behind it knows which.
      replaceByRegisters(rewriter, op, {});
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    replaceByRegisters(
        rewriter, op,
        createCoordinates(b, *layout, kernel.firstRow,
                          [&](int64_t i) { return layout->getRow(i); }));
    return success();
  }
};

/// shape_cast of step to one row -> first column + constant;
/// vector<R> to vector<Rx1> and back -> the same registers
struct ShapeCastPattern : ThreadPattern<vector::ShapeCastOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(vector::ShapeCastOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto target = getConverter().getLayout(op.getResultVectorType());
    if (!target)
      return rewriter.notifyMatchFailure(op, "result has no thread form");
    if (target->getKind() == Kind::Columns) {
      if (!op.getSource().getDefiningOp<vector::StepOp>())
        return rewriter.notifyMatchFailure(op, "rows do not become columns");
      ImplicitLocOpBuilder b(op.getLoc(), rewriter);
      replaceByRegisters(
          rewriter, op,
          createCoordinates(b, *target, kernel.firstColumn,
                            [&](int64_t i) { return target->getColumn(i); }));
      return success();
    }
    auto source = getConverter().getLayout(op.getSourceVectorType());
    if (!source || source->getKind() != Kind::Rows ||
        target->getKind() != Kind::Rows)
      return rewriter.notifyMatchFailure(op, "not from rows to rows");
    replaceByRegisters(rewriter, op, llvm::to_vector(adaptor.getSource()));
    return success();
  }
};

/// broadcast of a scalar, of one value per row or per column
struct BroadcastPattern : ThreadPattern<vector::BroadcastOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(vector::BroadcastOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto target = getConverter().getLayout(op.getResultVectorType());
    if (!target || target->isPacked())
      return rewriter.notifyMatchFailure(op, "result has no thread form");
    auto type = dyn_cast<VectorType>(op.getSourceType());
    std::optional<FragmentLayout> source;
    if (type) {
      source = getConverter().getLayout(type);
      if (!source || source->getKind() == Kind::Fragment || type.getRank() != 2)
        return rewriter.notifyMatchFailure(op, "not of rows or columns");
    }
    ValueRange registers = adaptor.getSource();
    SmallVector<Value> result;
    for (int64_t i = 0, e = target->getNumElements(); i < e; ++i) {
      int64_t element = 0;
      if (source)
        element = source->getKind() == Kind::Rows ? target->getRowElement(i)
                                                  : target->getColumnElement(i);
      result.push_back(registers[element]);
    }
    replaceByRegisters(rewriter, op, result);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// mask_band -> select(constant column < bound - first key - first column,
///                     score, -inf)
struct MaskBandPattern : ThreadPattern<attn::MaskBandOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(attn::MaskBandOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<VectorType>(op.getScores().getType());
    auto layout = getConverter().getLayout(type);
    if (!layout || !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "scores have no thread form");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // Relative to the thread's first column, so that each element compares with
    // a constant. A bound that every column meets is not looked at.
    SmallVector<Value> lower, upper;
    if (!isNeverPositive(op.getLower()))
      lower = makeRelative(b, adaptor.getLower(), adaptor.getFirst().front());
    upper = makeRelative(b, adaptor.getUpper(), adaptor.getFirst().front());

    Value hidden = LLVM::ConstantOp::create(
        b, b.getF32Type(),
        b.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
    SmallVector<Value> result;
    for (auto [i, score] : llvm::enumerate(adaptor.getScores())) {
      int64_t row = layout->getRowElement(i);
      Value column = createI32(b, layout->getColumn(i));
      Value masked = score;
      if (!upper.empty())
        masked = select(b, LLVM::ICmpPredicate::slt, column, upper[row], masked,
                        hidden);
      if (!lower.empty())
        masked = select(b, LLVM::ICmpPredicate::sge, column, lower[row], masked,
                        hidden);
      result.push_back(masked);
    }
    replaceByRegisters(rewriter, op, result);
    return success();
  }

private:
  static bool isNeverPositive(Value bound) {
    DenseElementsAttr constant;
    return matchPattern(bound, m_Constant(&constant)) && constant.isSplat() &&
           !constant.getSplatValue<APInt>().isStrictlyPositive();
  }

  SmallVector<Value> makeRelative(ImplicitLocOpBuilder &b, ValueRange bounds,
                                  Value first) const {
    SmallVector<Value> result;
    for (Value bound : bounds) {
      Value inTile = LLVM::SubOp::create(b, bound, first);
      result.push_back(LLVM::SubOp::create(b, inTile, kernel.firstColumn));
    }
    return result;
  }

  static Value select(ImplicitLocOpBuilder &b, LLVM::ICmpPredicate predicate,
                      Value column, Value bound, Value score, Value hidden) {
    Value isVisible = LLVM::ICmpOp::create(b, predicate, column, bound);
    return LLVM::SelectOp::create(b, isVisible, score, hidden);
  }
};

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

using vector::CombiningKind;

/// `a kind b` of two f32; null if the kind is none of a row's.
Value combine(ImplicitLocOpBuilder &b, CombiningKind kind, Value x, Value y) {
  switch (kind) {
  case CombiningKind::ADD:
    return LLVM::FAddOp::create(b, x, y);
  case CombiningKind::MUL:
    return LLVM::FMulOp::create(b, x, y);
  case CombiningKind::MAXNUMF:
    return LLVM::MaxNumOp::create(b, x, y);
  case CombiningKind::MINNUMF:
    return LLVM::MinNumOp::create(b, x, y);
  case CombiningKind::MAXIMUMF:
    return LLVM::MaximumOp::create(b, x, y);
  case CombiningKind::MINIMUMF:
    return LLVM::MinimumOp::create(b, x, y);
  default:
    return {};
  }
}

/// The value combined over the four lanes that share a row.
Value combineQuad(ImplicitLocOpBuilder &b, CombiningKind kind, Value value) {
  for (int64_t lane : kQuadLanes) {
    Value other = NVVM::ShflOp::create(
        b, value.getType(), createI32(b, -1), value, createI32(b, lane),
        createI32(b, kWarpSize - 1), NVVM::ShflKind::bfly, UnitAttr());
    value = combine(b, kind, value, other);
  }
  return value;
}

/// Pairs of neighbours, then pairs of pairs: short chains.
Value combineTree(ImplicitLocOpBuilder &b, CombiningKind kind,
                  SmallVector<Value> values) {
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      Value value = combine(b, kind, values[i], values[i + 1]);
      if (!value)
        return {};
      next.push_back(value);
    }
    if (values.size() % 2 != 0)
      next.push_back(values.back());
    values = std::move(next);
  }
  return values.front();
}

/// What the thread holds of each row of a fragment, combined.
SmallVector<Value> combineInThread(ImplicitLocOpBuilder &b, CombiningKind kind,
                                   const FragmentLayout &layout,
                                   ValueRange elements, size_t numRows) {
  SmallVector<SmallVector<Value>> rows(numRows);
  for (auto [i, value] : llvm::enumerate(elements))
    rows[layout.getRowElement(i)].push_back(value);
  SmallVector<Value> result;
  for (ArrayRef<Value> values : rows)
    result.push_back(combineTree(b, kind, llvm::to_vector(values)));
  return result;
}

/// multi_reduction along rows -> a tree in the thread, then over its quad
struct MultiReductionPattern : ThreadPattern<vector::MultiDimReductionOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(vector::MultiDimReductionOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto layout = getConverter().getLayout(op.getSourceVectorType());
    if (!layout || layout->getKind() != Kind::Fragment ||
        op.getReductionDims() != ArrayRef<int64_t>{1} ||
        !op.getSourceVectorType().getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not along rows of f32");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ValueRange accumulator = adaptor.getAcc();
    SmallVector<Value> result = combineInThread(
        b, op.getKind(), *layout, adaptor.getSource(), accumulator.size());
    if (!result.front())
      return rewriter.notifyMatchFailure(op, "kind is not supported");
    for (auto [value, initial] : llvm::zip(result, accumulator))
      value = combine(b, op.getKind(), initial,
                      combineQuad(b, op.getKind(), value));
    replaceByRegisters(rewriter, op, result);
    return success();
  }
};

/// partial_sum -> a tree in the thread
struct PartialSumPattern : ThreadPattern<PartialSumOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(PartialSumOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto layout = getConverter().getLayout(op.getSource().getType());
    auto rows = getConverter().getLayout(op.getResult().getType());
    if (!layout || layout->getKind() != Kind::Fragment || !rows)
      return rewriter.notifyMatchFailure(op, "source has no thread form");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    replaceByRegisters(rewriter, op,
                       combineInThread(b, CombiningKind::ADD, *layout,
                                       adaptor.getSource(),
                                       rows->getNumElements()));
    return success();
  }
};

/// row_sum -> the sum over the quad
struct RowSumPattern : ThreadPattern<RowSumOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(RowSumOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> result;
    for (Value partial : adaptor.getPartial())
      result.push_back(combineQuad(b, CombiningKind::ADD, partial));
    replaceByRegisters(rewriter, op, result);
    return success();
  }
};

} // namespace

void mlir::attn_gpu::populateVectorPatterns(
    RewritePatternSet &patterns, const ThreadTypeConverter &converter,
    const Kernel &kernel) {
  patterns.add<StepPattern, ShapeCastPattern, BroadcastPattern, MaskBandPattern,
               MultiReductionPattern, PartialSumPattern, RowSumPattern>(
      converter, kernel, patterns.getContext());
}
