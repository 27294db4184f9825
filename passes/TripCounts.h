//===- TripCounts.h - What is known of loop bounds --------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `attn-split-masked-tiles` says how often a loop runs by how it makes the
// loop's bounds, and later passes read it there.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_TRIPCOUNTS_H
#define ATTN_PASSES_TRIPCOUNTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::attn {

/// Whether `value` cannot be greater than `bound`, as far as constants, minima,
/// maxima and selects tell.
bool isAtMost(Value value, int64_t bound);

/// Whether `loop`, with a constant lower bound, runs at most once.
bool runsAtMostOnce(scf::ForOp loop);

} // namespace mlir::attn

#endif // ATTN_PASSES_TRIPCOUNTS_H
