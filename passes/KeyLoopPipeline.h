//===- KeyLoopPipeline.h - Key loops, overlapped ----------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attn-overlap-softmax found of the loops, and how it writes them anew.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_KEYLOOPPIPELINE_H
#define ATTN_PASSES_KEYLOOPPIPELINE_H

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <vector>

namespace mlir::attn {

/// One matmul of an iteration with the tile it reads.
struct Product {
  /// What fills the slot, where no producer does; null else.
  attn_gpu::CooperativeLoadOp load;
  attn_gpu::ReceiveOp receive;
  attn_gpu::MMAAsyncOp start;
  attn_gpu::MMAWaitOp wait;
  attn_gpu::ReleaseOp release;
};

/// A loop over key tiles, cut into parts.
struct Iteration {
  scf::ForOp loop;
  Product scores, values;
  /// The weights as the values' product reads them.
  arith::TruncFOp weights;
  /// Number of the accumulator among what the loop carries.
  unsigned accumulator = 0;
  /// In the order of the body.
  SmallVector<Operation *> beforeScores, beforeValues, softmax, following;
};

/// Consecutive loops that hand on all they carry.
using Chain = std::vector<Iteration>;

/// Replaces the loops of `chain` by their pipeline; `peels`: its first visit
/// stands in front of the loops.
void pipelineKeyLoops(const Chain &chain, bool peels);

} // namespace mlir::attn

#endif // ATTN_PASSES_KEYLOOPPIPELINE_H
