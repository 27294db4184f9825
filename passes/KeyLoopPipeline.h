//===- KeyLoopPipeline.h - Key loops, overlapped ----------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attn-overlap-softmax found of a loop, and how it writes it anew.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_KEYLOOPPIPELINE_H
#define ATTN_PASSES_KEYLOOPPIPELINE_H

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

namespace mlir::attn {

/// A matrix product of an iteration with the tile it reads.
struct Product {
  /// What fills the slot, where no producer does; null else.
  attn_gpu::CooperativeLoadOp load;
  attn_gpu::ReceiveOp receive;
  attn_gpu::MMAAsyncOp start;
  attn_gpu::MMAWaitOp wait;
  attn_gpu::ReleaseOp release;
};

/// The body of a loop over key tiles, cut into parts.
struct Iteration {
  TileLoopOp loop;
  Product qk, pv;
  /// What rounds the weights to the left operand of the PV product.
  Operation *rounding = nullptr;
  /// Number of the accumulator among what the loop carries.
  unsigned accumulator = 0;
  /// What the QK product needs, what neither product and no accumulator has to
  /// do with, and what follows from the accumulator; in the order of the body.
  SmallVector<Operation *> beforeQK, softmax, following;
};

/// Replaces the loop by its pipeline; `peels`: the first iteration is a
/// prologue in front of the loop.
void pipelineKeyLoop(Iteration &iteration, bool peels);

} // namespace mlir::attn

#endif // ATTN_PASSES_KEYLOOPPIPELINE_H
