//===- KeyLoops.h - What is known of loops over key tiles -------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `attn-split-masked-tiles` says how often a loop runs and which one goes on
// where it stops by how it makes the loops; later passes read it there.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_KEYLOOPS_H
#define ATTN_PASSES_KEYLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::attn {

/// Whether `loop` runs at most once, as far as a constant lower bound and the
/// constants, minima, maxima and selects of the upper one tell.
bool runsAtMostOnce(scf::ForOp loop);

/// Whether `next` goes on where `loop` stops, with all it carries and for
/// nobody else to see.
bool continues(scf::ForOp loop, scf::ForOp next);

} // namespace mlir::attn

#endif // ATTN_PASSES_KEYLOOPS_H
