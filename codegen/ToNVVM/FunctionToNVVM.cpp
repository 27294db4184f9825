//===- FunctionToNVVM.cpp - Kernels and their coordinates -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/KernelAbi.h"
#include "codegen/ToNVVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::attn_gpu;

namespace {

/// gpu.func -> llvm.func with the parameters of KernelAbi.h
struct FunctionPattern : ThreadPattern<gpu::GPUFuncOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(gpu::GPUFuncOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<SmallVector<KernelParameter>> parameters =
        getKernelParameters(op.getArgumentTypes());
    if (failed(parameters) || op.getNumResults() != 0)
      return rewriter.notifyMatchFailure(op, "not a kernel's signature");
    SmallVector<Type> types;
    TypeConverter::SignatureConversion signature(op.getNumArguments());
    SmallVector<SmallVector<Type>> byArgument(op.getNumArguments());
    for (const KernelParameter &parameter : *parameters) {
      types.push_back(parameter.type);
      byArgument[parameter.argument].push_back(parameter.type);
    }
    for (auto [argument, argumentTypes] : llvm::enumerate(byArgument))
      signature.addInputs(argument, argumentTypes);

    auto voidType = LLVM::LLVMVoidType::get(op.getContext());
    auto function =
        LLVM::LLVMFuncOp::create(rewriter, op.getLoc(), op.getName(),
                                 LLVM::LLVMFunctionType::get(voidType, types));
    setAttributes(function, op, *parameters);
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(),
                                function.end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(), getConverter(),
                                           &signature)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

private:
  void setAttributes(LLVM::LLVMFuncOp function, gpu::GPUFuncOp op,
                     ArrayRef<KernelParameter> parameters) const {
    Builder b(op.getContext());
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                      b.getUnitAttr());
    // Without the size of a block at entry the assembler ignores setmaxnreg.
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                      b.getDenseI32ArrayAttr(*op.getKnownBlockSize()));
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      b.getI32IntegerAttr(1));
    function->setAttr(kSharedBytesAttr,
                      b.getI64IntegerAttr(kernel.sharedBytes));
    auto mapType = LLVM::LLVMArrayType::get(b.getI8Type(), kTensorMapBytes);
    for (auto [number, parameter] : llvm::enumerate(parameters)) {
      if (parameter.kind != KernelParameter::Kind::TensorMap)
        continue;
      function.setArgAttr(number, LLVM::LLVMDialect::getByValAttrName(),
                          TypeAttr::get(mapType));
      function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                          b.getI64IntegerAttr(kTensorMapAlignment));
      // The copy engine reads the map where the driver put it; a copy on the
      // stack would not do.
      function.setArgAttr(number, NVVM::NVVMDialect::getGridConstantAttrName(),
                          b.getUnitAttr());
    }
  }
};

/// gpu.return -> llvm.return
struct ReturnPattern : ThreadPattern<gpu::ReturnOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(gpu::ReturnOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

/// gpu.block_id x -> nvvm.read.ptx.sreg.ctaid.x, and the like
template <typename Source, typename Target>
struct CoordinatePattern : ThreadPattern<Source> {
  using ThreadPattern<Source>::ThreadPattern;
  using typename ThreadPattern<Source>::Adaptor;

  LogicalResult
  matchAndRewrite(Source op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getDimension() != gpu::Dimension::x)
      return rewriter.notifyMatchFailure(op, "grids are one-dimensional");
    rewriter.replaceOpWithNewOp<Target>(op, rewriter.getI32Type());
    return success();
  }
};

/// memref.dim -> the parameter that holds it, or its constant
struct DimPattern : ThreadPattern<memref::DimOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(memref::DimOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<int64_t> dim = op.getConstantIndex();
    auto type = dyn_cast<MemRefType>(op.getSource().getType());
    if (!dim || !type)
      return rewriter.notifyMatchFailure(op, "dimension is not a constant");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (!type.isDynamicDim(*dim)) {
      rewriter.replaceOp(op, createI32(b, type.getDimSize(*dim)));
      return success();
    }
    unsigned before = type.getDynamicDimIndex(*dim);
    rewriter.replaceOp(op, adaptor.getSource()[1 + before]);
    return success();
  }
};

} // namespace

void mlir::attn_gpu::populateFunctionPatterns(
    RewritePatternSet &patterns, const ThreadTypeConverter &converter,
    const Kernel &kernel) {
  patterns.add<FunctionPattern, ReturnPattern, DimPattern,
               CoordinatePattern<gpu::BlockIdOp, NVVM::BlockIdXOp>,
               CoordinatePattern<gpu::GridDimOp, NVVM::GridDimXOp>,
               CoordinatePattern<gpu::ThreadIdOp, NVVM::ThreadIdXOp>>(
      converter, kernel, patterns.getContext());
}
