//===- MaskIntervals.h - Which keys a mask shows, in numbers -- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_MASKINTERVALS_H
#define ATTN_TOOLS_ATTNC_MASKINTERVALS_H

#include "tools/attnc/run/Problem.h"

#include "dialect/attn/AttnDialect.h"

namespace attnc {

/// The intervals that the mask of `op` gives, found by folding what it builds
/// with constants; no pass has a part in it. Null without a mask. Valid as long
/// as the op's context.
FindIntervals findIntervals(mlir::attn::AttentionOp op);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_MASKINTERVALS_H
