//===- SpecRegions.h - Whether a spec's region texts are regions  -*- C++
//-*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_SPEC_SPECREGIONS_H
#define ATTN_TOOLS_ATTNC_SPEC_SPECREGIONS_H

#include "tools/attnc/spec/SpecParser.h"

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace attnc {

/// Parses `score_mod` and `mask_mod`, with the captures in scope, and checks
/// arguments, ops and what is yielded. Appends a message for each fault.
void checkRegions(mlir::MLIRContext &context, const Spec &spec, Errors &errors);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_SPEC_SPECREGIONS_H
