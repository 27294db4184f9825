//===- Bufferize.h - The attention op from tensors to memrefs - -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_BUFFERIZE_H
#define ATTN_PASSES_BUFFERIZE_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::attn {

/// Lets upstream's `one-shot-bufferize` turn attn.attention on tensors, which
/// `attn-tile` does not take, into one on memrefs.
void registerBufferization(DialectRegistry &registry);

} // namespace mlir::attn

#endif // ATTN_PASSES_BUFFERIZE_H
