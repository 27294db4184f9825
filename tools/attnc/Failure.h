//===- Failure.h - Why something could not be done ------------ -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_FAILURE_H
#define ATTN_TOOLS_ATTNC_FAILURE_H

#include "tools/attnc/spec/SpecParser.h"

#include <optional>

namespace attnc {

/// The exit codes that users and scripts rely on.
enum ExitCode {
  kOk = 0,
  /// Wrong numbers, a failed launch, or a failure of the compiler itself.
  kFailed = 1,
  /// A mistake in the spec or the command line.
  kInvalid = 2,
  /// All is valid, but not served.
  kUnsupported = 3,
};

/// What the front end returns in place of printing. What MLIR found wrong is
/// not among the messages: it went to the context's diagnostic handler.
struct Failure {
  ExitCode code = kFailed;
  Errors messages;
};

/// A failure, or nothing.
using MaybeFailure = std::optional<Failure>;

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_FAILURE_H
