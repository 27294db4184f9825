//===- Pipelines.cpp - The passes in order --------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::attn;

void attn::buildSchedulePipeline(OpPassManager &pm,
                                 const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(
      createAttnSelectSchedulePass({options.target.getValue()}));
}

void attn::buildTilePipeline(OpPassManager &pm) {
  OpPassManager &func = pm.nest<func::FuncOp>();
  func.addPass(createAttnTilePass());
  func.addPass(createAttnFuseOnlineSoftmaxPass());
  // Splitting evaluates bounds of the mask by looking at how they are made, so
  // it comes before anything simplifies them.
  func.addPass(createAttnSplitMaskedTilesPass());
  // Folds alone: canonicalization would take loops of known length apart, and
  // what follows needs every one of them.
  func.addPass(createCanonicalizerPass(GreedyRewriteConfig(), {},
                                       /*enabledPatterns=*/{"none"}));
  func.addPass(createCSEPass());
}

void attn::buildKernelPipeline(OpPassManager &pm) {
  pm.addPass(createAttnMapToGPUPass());
  OpPassManager &kernel = pm.nest<gpu::GPUModuleOp>().nest<gpu::GPUFuncOp>();
  // These change what the key loops carry, so they come before the loops are
  // cut in parts that hand it on.
  kernel.addPass(createAttnDeferRowSumsPass());
  kernel.addPass(createAttnRescaleLazilyPass());
  // The guard reads tensors anew, so it must find the reads it repeats.
  kernel.addPass(createAttnGuardHiddenValuesPass());
  kernel.addPass(createAttnAsyncCopiesPass());
  kernel.addPass(createAttnAsyncMatmulsPass());
  kernel.addPass(createAttnPrefetchCopiesPass());
  kernel.addPass(createAttnSpecializeWarpgroupsPass());
  // What differs from worker to worker is out of the producer's reach.
  kernel.addPass(createAttnSkipAbsentRowsPass());
  kernel.addPass(createAttnSkipHiddenTilesPass());
  // The consumer's loops are free of copies only after specialization.
  kernel.addPass(createAttnOverlapSoftmaxPass());
  kernel.addPass(createAttnHoistToHostPass());
  kernel.addPass(createCSEPass());
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
}
