//===- FragmentsToNVVM.cpp - Constants and 16-bit fragments ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/InlineAsm.h"
#include "codegen/ToNVVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// The layout of `type` if a thread holds it two elements to a register.
static std::optional<FragmentLayout>
getPackedLayout(const ThreadTypeConverter &converter, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return std::nullopt;
  std::optional<FragmentLayout> layout = converter.getLayout(vector);
  if (!layout || !layout->isPacked())
    return std::nullopt;
  return layout;
}

namespace {

/// constant, or constant dense<splat> -> one constant in every register
struct ConstantPattern : ThreadPattern<arith::ConstantOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getConverter().convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "type has no thread form");
    Attribute value = op.getValue();
    if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
      if (!dense.isSplat())
        return rewriter.notifyMatchFailure(op, "not a splat");
      value = dense.getSplatValue<Attribute>();
    }
    if (getPackedLayout(getConverter(), op.getType())) {
      uint64_t bits =
          cast<FloatAttr>(value).getValue().bitcastToAPInt().getZExtValue();
      value =
          rewriter.getI32IntegerAttr(static_cast<int32_t>(bits << 16 | bits));
    } else if (auto integer = dyn_cast<IntegerAttr>(value);
               integer && integer.getType().isIndex()) {
      if (!llvm::isInt<32>(integer.getInt()))
        return rewriter.notifyMatchFailure(op, "index exceeds 32 bits");
      value = rewriter.getI32IntegerAttr(integer.getInt());
    }
    Value constant =
        LLVM::ConstantOp::create(rewriter, op.getLoc(), types.front(), value);
    replaceByRegisters(rewriter, op,
                       SmallVector<Value>(types.size(), constant));
    return success();
  }
};

/// ub.poison -> poison in every register
struct PoisonPattern : ThreadPattern<ub::PoisonOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(ub::PoisonOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getConverter().convertType(op.getType(), types)))
      return rewriter.notifyMatchFailure(op, "type has no thread form");
    Value poison = LLVM::PoisonOp::create(rewriter, op.getLoc(), types.front());
    replaceByRegisters(rewriter, op, SmallVector<Value>(types.size(), poison));
    return success();
  }
};

/// truncf of a fragment -> one register for each two scalars
struct PackPattern : ThreadPattern<arith::TruncFOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(arith::TruncFOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto from = dyn_cast<VectorType>(op.getIn().getType());
    if (!getPackedLayout(getConverter(), op.getType()) ||
        !from.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not f32 to two a register");
    Type element = cast<VectorType>(op.getType()).getElementType();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ValueRange scalars = adaptor.getIn();
    SmallVector<Value> result;
    for (size_t i = 0; i < scalars.size(); i += 2)
      result.push_back(emitPack(b, element, scalars[i], scalars[i + 1]));
    replaceByRegisters(rewriter, op, result);
    return success();
  }
};

/// extf of a fragment -> two scalars for each register
struct UnpackPattern : ThreadPattern<arith::ExtFOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(arith::ExtFOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!getPackedLayout(getConverter(), op.getIn().getType()))
      return rewriter.notifyMatchFailure(op, "not two elements to a register");
    Type element = cast<VectorType>(op.getIn().getType()).getElementType();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> result;
    for (Value packed : adaptor.getIn()) {
      Value high = LLVM::LShrOp::create(b, packed, createI32(b, 16));
      for (Value bits : {packed, high}) {
        Value half = LLVM::TruncOp::create(b, b.getI16Type(), bits);
        Value scalar = LLVM::BitcastOp::create(b, element, half);
        result.push_back(LLVM::FPExtOp::create(b, b.getF32Type(), scalar));
      }
    }
    replaceByRegisters(rewriter, op, result);
    return success();
  }
};

} // namespace

void mlir::attn_gpu::populateFragmentPatterns(
    RewritePatternSet &patterns, const ThreadTypeConverter &converter,
    const Kernel &kernel) {
  patterns.add<ConstantPattern, PoisonPattern, PackPattern, UnpackPattern>(
      converter, kernel, patterns.getContext());
}
