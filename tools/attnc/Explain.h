//===- Explain.h - Which kernel, why, and at what cost -------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_EXPLAIN_H
#define ATTN_TOOLS_ATTNC_EXPLAIN_H

#include "tools/attnc/CommandLine.h"

namespace attnc {

/// The verb `explain`; returns the exit code.
int runExplain(const CommandLine &command);

/// The verb `support`: a table of targets and features, each cell from the same
/// functions that accept or refuse a spec.
int runSupport(const CommandLine &command);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_EXPLAIN_H
