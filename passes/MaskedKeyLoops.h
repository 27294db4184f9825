//===- MaskedKeyLoops.h - What masked key loops compute ---------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds attention again in the loops that attn-fuse-online-softmax left, and
// what becomes of their accumulators.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_MASKEDKEYLOOPS_H
#define ATTN_PASSES_MASKEDKEYLOOPS_H

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <optional>

namespace mlir::attn {

/// What a masked key loop computes, and what from.
struct MaskedKeyLoop {
  scf::ForOp loop;
  MaskBandOp mask;
  vector::TransferReadOp query, key, value;
  /// Bounds in keys, one per row.
  Value lower, upper;
  /// Factor of the scores in the exponent.
  Value factor;
  /// Which carried values are the maximum, the sum and the accumulators.
  unsigned maximum = 0, sum = 0, accumulator = 0;

  /// Whether a row of the tile sees a key that another does not.
  bool hidesFromSomeRows() const;
};

/// Nothing where the loop around `mask` is not one of attention.
std::optional<MaskedKeyLoop> matchMaskedKeyLoop(MaskBandOp mask);

/// The loop that the chain which `loop` belongs to ends with.
scf::ForOp getLastKeyLoop(scf::ForOp loop);

/// What becomes of the accumulators behind the loops.
struct AccumulatorOutput {
  /// Elementwise ops, from the accumulators on, each on the one before.
  SmallVector<Operation *> ops;
  vector::TransferWriteOp write;
};

/// Follows `accumulator` to where it is written. Nothing where anything but
/// values that are the same in all columns joins it on the way.
std::optional<AccumulatorOutput> matchAccumulatorOutput(Value accumulator);

} // namespace mlir::attn

#endif // ATTN_PASSES_MASKEDKEYLOOPS_H
