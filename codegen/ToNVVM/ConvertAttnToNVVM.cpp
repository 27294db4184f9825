//===- ConvertAttnToNVVM.cpp - From the kernel to the thread altitude -----===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two conversions per kernel. The first, with the patterns of Patterns.h, turns
// every value into what a thread holds of it and every op but control flow into
// LLVM's; loops and branches are structural and only change types. The second
// turns these into blocks.
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/Passes.h"

#include "codegen/ToNVVM/ParkValues.h"
#include "codegen/ToNVVM/Patterns.h"

#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace mlir::attn_gpu {
#define GEN_PASS_DEF_CONVERTATTNTONVVMPASS
#include "codegen/ToNVVM/Passes.h.inc"
} // namespace mlir::attn_gpu

using namespace mlir;
using namespace mlir::attn_gpu;

/// Makes every value one or more scalars. The kernel becomes an `llvm.func`
/// that still holds `scf`.
static LogicalResult distribute(gpu::GPUFuncOp function, const Kernel &kernel) {
  ThreadTypeConverter converter(kernel);
  RewritePatternSet patterns(function.getContext());
  populateFunctionPatterns(patterns, converter, kernel);
  populateRolePatterns(patterns, converter, kernel);
  populateChannelPatterns(patterns, converter, kernel);
  populateCooperativeLoadPatterns(patterns, converter, kernel);
  if (kernel.warpsPerWorker == kWarpsPerWarpgroup)
    populateWarpgroupMatmulPatterns(patterns, converter, kernel);
  else
    populateWarpMatmulPatterns(patterns, converter, kernel);
  populateElementwisePatterns(patterns, converter, kernel);
  populateFragmentPatterns(patterns, converter, kernel);
  populateVectorPatterns(patterns, converter, kernel);
  populateTransferPatterns(patterns, converter, kernel);

  ConversionTarget target(*function.getContext());
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  // Upstream looks at results only, and a loop that carries nothing has none.
  target.addDynamicallyLegalOp<scf::ForOp>([&](scf::ForOp op) {
    return converter.isLegal(op->getOperandTypes()) &&
           converter.isLegal(&op.getRegion());
  });
  return applyFullConversion(function, target, std::move(patterns));
}

/// Turns loops and branches of kernels in `module` into blocks.
static LogicalResult flatten(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(32);
  LLVMTypeConverter llvmConverter(context, options);
  Kernel none;
  ThreadTypeConverter threadConverter(none);
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(llvmConverter, patterns);
  // The compares and increments of the loops.
  populateElementwisePatterns(patterns, threadConverter, none);

  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

/// Whether the assembler may unroll loops of the kernels, which must agree: the
/// assembler takes it for a module.
static FailureOr<bool> allowsUnrolling(ArrayRef<gpu::GPUFuncOp> functions) {
  std::optional<bool> allows;
  for (gpu::GPUFuncOp function : functions) {
    auto schedule =
        function->getAttrOfType<attn::ScheduleAttr>(attn::kScheduleAttr);
    bool own = schedule ? schedule.getUnroll() : attn::ScheduleDefaults::unroll;
    if (allows.value_or(own) != own)
      return function.emitOpError()
             << "expected unroll = " << (*allows ? "true" : "false")
             << " as in the other kernels of the module, but got "
             << (own ? "true" : "false");
    allows = own;
  }
  return allows.value_or(attn::ScheduleDefaults::unroll);
}

/// Asks the assembler for loops as they are: it would unroll those that are not
/// key loops, and take 6 to 18 % longer for it. At module level it counts for
/// all loops.
static void forbidUnrolling(gpu::GPUModuleOp module) {
  StringRef name = LLVM::LLVMDialect::getModuleLevelAsmAttrName();
  Builder builder(module.getContext());
  SmallVector<Attribute> lines;
  if (auto present = module->getAttrOfType<ArrayAttr>(name))
    llvm::append_range(lines, present);
  lines.push_back(builder.getStringAttr(".pragma \"nounroll\";"));
  module->setAttr(name, builder.getArrayAttr(lines));
}

namespace {

struct ConvertAttnToNVVM
    : attn_gpu::impl::ConvertAttnToNVVMPassBase<ConvertAttnToNVVM> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    SmallVector<gpu::GPUFuncOp> functions(module.getOps<gpu::GPUFuncOp>());
    FailureOr<bool> unrolls = allowsUnrolling(functions);
    if (failed(unrolls))
      return signalPassFailure();
    for (gpu::GPUFuncOp function : functions) {
      FailureOr<Kernel> kernel = analyzeKernel(function);
      if (failed(kernel))
        return signalPassFailure();
      buildPrologue(function, *kernel);
      parkValues(function, *kernel);
      if (failed(distribute(function, *kernel)))
        return signalPassFailure();
    }
    if (failed(flatten(module)))
      return signalPassFailure();
    if (!*unrolls)
      forbidUnrolling(module);
  }
};

} // namespace
