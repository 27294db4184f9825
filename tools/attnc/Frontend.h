//===- Frontend.h - From what a user wrote to a problem ------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Specs, flags and modules are front ends of one compiler. Each comes to values
// of the spec's fields, which the same rules are applied to, once, and to one
// attn.attention, which is what is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_FRONTEND_H
#define ATTN_TOOLS_ATTNC_FRONTEND_H

#include "tools/attnc/BuildOp.h"

#include "llvm/Support/MemoryBuffer.h"

#include <functional>
#include <utility>

namespace attnc {

/// What a user gave.
struct ProblemInput {
  /// A spec or a module; null where the flags say it all.
  std::unique_ptr<llvm::MemoryBuffer> file;
  /// Of the file, as the user wrote it.
  std::string name;
  bool isModule = false;
  /// In the order given. They win over a spec; of a module, they may set what
  /// its op does not say, such as the target and the head counts.
  std::vector<std::pair<const Field *, std::string>> flags;
  /// The family of kernels asked for, fa2 or fa3; empty for any.
  std::string style;
  /// A table of schedules to choose from; empty for the one built in.
  std::string schedules;
  /// More that must hold of a valid spec before it is asked what is served.
  std::function<void(const Spec &, Errors &)> check;
};

/// Adds the dialects that problems and their kernels pass through.
void registerDialects(mlir::DialectRegistry &registry);

/// A valid problem that the front end serves, or why there is none.
MaybeFailure buildProblem(mlir::MLIRContext &context, ProblemInput input,
                          ModuleProblem &problem);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_FRONTEND_H
