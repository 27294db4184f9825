//===- Verbs.h - The verbs that compile ----------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_VERBS_H
#define ATTN_TOOLS_ATTNC_VERBS_H

#include "tools/attnc/Compile.h"
#include "tools/attnc/Session.h"

namespace attnc {

/// Compiles with the session's options for passes. Or an exit code, with errors
/// and warnings printed.
int compileProblem(Session &session, const ModuleProblem &problem,
                   const CompileFlags &flags, Emit last, Compiled &result);

/// The verb: compiles and writes what was asked for.
int runCompile(const CommandLine &command);

/// The verbs that launch: compile in memory, then hand over.
int runLaunch(const CommandLine &command);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_VERBS_H
