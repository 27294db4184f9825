//===- Pipelines.cpp - The passes in order --------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines.h"
#include "passes/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::attn;

void attn::buildSchedulePipeline(OpPassManager &pm,
                                 const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createAttnSelectSchedulePass(
      {options.target.getValue(), options.style.getValue(),
       options.schedules.getValue()}));
}

void attn::buildTilePipeline(OpPassManager &pm) {
  OpPassManager &func = pm.nest<func::FuncOp>();
  func.addPass(createAttnTilePass());
  func.addPass(createAttnFuseOnlineSoftmaxPass());
  func.addPass(createAttnSplitMaskedTilesPass());
  func.addPass(createCanonicalizerPass());
  func.addPass(createCSEPass());
}

void attn::buildKernelPipeline(OpPassManager &pm) {
  pm.addPass(createAttnMapToGPUPass());
  OpPassManager &kernel = pm.nest<gpu::GPUModuleOp>().nest<gpu::GPUFuncOp>();
  // These change what the key loops carry, so they come before the loops are
  // cut in parts that pass it along.
  kernel.addPass(createAttnDeferRowSumsPass());
  kernel.addPass(createAttnRescaleLazilyPass());
  // The guard reads tensors anew, so it must find the reads it repeats.
  kernel.addPass(createAttnGuardHiddenValuesPass());
  kernel.addPass(createAttnAsyncCopiesPass());
  kernel.addPass(createAttnAsyncMatmulsPass());
  kernel.addPass(createAttnSpecializeWarpgroupsPass());
  // What differs from worker to worker is out of the producer's reach.
  kernel.addPass(createAttnSkipAbsentRowsPass());
  kernel.addPass(createAttnSkipHiddenTilesPass());
  // The consumer's loops are free of copies only after specialization.
  kernel.addPass(createAttnOverlapSoftmaxPass());
  // Where threads copy, how early depends on where the products ended up.
  kernel.addPass(createAttnPrefetchCopiesPass());
  // Structure ends here: what follows is loops and arithmetic.
  kernel.addPass(createAttnExpandBandsPass());
  kernel.addPass(createAttnExpandSoftmaxPass({/*fuseExponents=*/true}));
  kernel.addPass(createAttnLowerTileLoopsPass());
  kernel.addPass(createAttnHoistToHostPass());
  kernel.addPass(createCSEPass());
}

void attn::buildHostPipeline(OpPassManager &pm) {
  OpPassManager &func = pm.nest<func::FuncOp>();
  func.addPass(createAttnExpandBandsPass());
  func.addPass(createAttnExpandSoftmaxPass());
  func.addPass(createAttnLowerTileLoopsPass());
  func.addPass(createAttnLoopOverRowsPass());
  // Columns of columns, and the indices of every row's loads.
  func.addPass(createCanonicalizerPass());
  func.addPass(createCSEPass());
  // From here on all is upstream's. Rows of tensors whose columns lie apart
  // become loops; the others stay vectors.
  func.addPass(createConvertVectorToSCFPass());
  func.addPass(createForallToForLoopPass());
  // No CPU that we know of rounds to bf16 in one instruction and to nearest
  // even, and LLVM would call a function of the compiler's runtime library.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  func.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void attn::registerPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "attn-schedule-pipeline", "choose the schedule", buildSchedulePipeline);
  PassPipelineRegistration<>("attn-tile-pipeline",
                             "from a scheduled op to online-softmax loops",
                             buildTilePipeline);
  PassPipelineRegistration<>("attn-kernel-pipeline",
                             "from online-softmax loops to a kernel",
                             buildKernelPipeline);
  PassPipelineRegistration<>("attn-host-pipeline",
                             "from online-softmax loops to LLVM for the CPU",
                             buildHostPipeline);
}

void attn::registerUpstreamPasses() {
  registerCanonicalizerPass();
  registerCSEPass();
  registerConvertVectorToSCF();
  registerSCFForallToForLoop();
  arith::registerArithExpandOpsPass();
  registerSCFToControlFlowPass();
  registerConvertVectorToLLVMPass();
  registerConvertMathToLLVMPass();
  registerFinalizeMemRefToLLVMConversionPass();
  registerArithToLLVMConversionPass();
  registerConvertControlFlowToLLVMPass();
  registerConvertFuncToLLVMPass();
  registerReconcileUnrealizedCastsPass();
}
