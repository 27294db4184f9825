//===- SpecSupport.h - What of a valid spec is not served yet - -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_SPEC_SPECSUPPORT_H
#define ATTN_TOOLS_ATTNC_SPEC_SPECSUPPORT_H

#include "tools/attnc/spec/SpecParser.h"

namespace attnc {

/// Every reason why the front end cannot express this valid spec as an op that
/// the passes take, or why its target cannot carry it out. What depends on
/// tile sizes is the schedule selection's to refuse.
Errors listUnsupported(const Spec &spec);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_SPEC_SPECSUPPORT_H
