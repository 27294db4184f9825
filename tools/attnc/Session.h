//===- Session.h - The MLIR side of one command --------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_SESSION_H
#define ATTN_TOOLS_ATTNC_SESSION_H

#include "tools/attnc/BuildOp.h"
#include "tools/attnc/CommandLine.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include <optional>

namespace attnc {

/// A context with the dialects that kernels pass through, whose diagnostics go
/// to standard error in our style.
class Session {
public:
  /// Options for MLIR must be known before there is a context; none is the
  /// common case and costs nothing.
  static std::optional<int>
  parseMLIRFlags(const std::vector<std::string> &flags);

  explicit Session(const std::vector<std::string> &dialectPlugins = {});

  mlir::MLIRContext &context() { return *mlirContext; }
  /// Applies MLIR's options to a pass manager.
  void configure(mlir::PassManager &manager);
  /// Of plugins that could not be loaded.
  const Errors &errors() const { return pluginErrors; }

private:
  Errors pluginErrors;
  std::unique_ptr<mlir::MLIRContext> mlirContext;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler;
};

/// The problem that the command line states, valid and served by the front end.
/// Or an exit code, with the errors printed.
std::optional<int> loadProblem(Session &session, const CommandLine &command,
                               ModuleProblem &problem);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_SESSION_H
