//===- Pipelines.h - The passes in order ------------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_PIPELINES_H
#define ATTN_PASSES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::attn {

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("the target, e.g. sm_90a"),
                             llvm::cl::init("sm_90a")};
  Option<std::string> style{
      *this, "style",
      llvm::cl::desc("fa2 or fa3; empty: what suits the target best")};
  Option<std::string> schedules{
      *this, "schedules",
      llvm::cl::desc("a file with the table of schedules; empty: the one built "
                     "in")};
};

/// The attention op with its schedule.
void buildSchedulePipeline(OpPassManager &pm, const PipelineOptions &options);

/// From there to one online-softmax loop over visible tiles.
void buildTilePipeline(OpPassManager &pm);

/// From there to the kernel altitude: what a thread block does.
void buildKernelPipeline(OpPassManager &pm);

/// From online-softmax loops to the LLVM dialect, for the CPU.
void buildHostPipeline(OpPassManager &pm);

/// Registers the above as `attn-schedule-pipeline`, `attn-tile-pipeline`,
/// `attn-kernel-pipeline` and `attn-host-pipeline`.
void registerPipelines();

/// Registers the passes of upstream that the pipelines consist of, so that
/// options can name them and a printed pipeline reads back.
void registerUpstreamPasses();

} // namespace mlir::attn

#endif // ATTN_PASSES_PIPELINES_H
