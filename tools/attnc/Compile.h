//===- Compile.h - From a problem to a kernel, stage by stage - -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_COMPILE_H
#define ATTN_TOOLS_ATTNC_COMPILE_H

#include "tools/attnc/BuildOp.h"
#include "tools/attnc/CompileFlags.h"

#include "mlir/Pass/PassManager.h"

#include <string>

namespace attnc {

/// What compiling gave, as far as it went.
struct Compiled {
  std::string name;
  /// The family of its schedule.
  mlir::attn::Style style = mlir::attn::Style::Host;
  /// The last stage's text where that is not the end.
  std::string text;
  std::string ptx;
  std::string cubin;
  /// LLVM IR for this machine, in place of the two.
  std::string hostIR;
  std::string manifest;
  /// What went wrong beside the result.
  Errors warnings;
};

/// The kernel's name for a spec's `name`: another kernel of the same spec needs
/// another one.
std::string nameKernel(std::string name, const CompileFlags &flags);

/// What a client does to each pass manager before it runs.
using ConfigurePasses = llvm::function_ref<void(mlir::PassManager &)>;

/// Compiles as far as `last` and fills `result`.
MaybeFailure compileProblem(const ModuleProblem &problem,
                            const CompileFlags &flags, Emit last,
                            Compiled &result, ConfigurePasses configure = {});

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_COMPILE_H
