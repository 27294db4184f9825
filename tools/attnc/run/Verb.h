//===- Verb.h - What the verbs that run kernels share --------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_VERB_H
#define ATTN_TOOLS_ATTNC_RUN_VERB_H

#include "runtime/Status.h"

#include <functional>
#include <string>

namespace attnc {

/// Prints "error: ..." to stderr and returns the exit code.
int reportError(const attn::runtime::Status &status);

/// Prints what a launch came to; the exit code is 1 where that does not arrive.
int printReport(const std::string &text);

/// Runs the body of a verb: no exception leaves, and after `timeout` seconds
/// (0 for never) the process ends with exit code 1, since a kernel that hangs
/// on a GPU cannot be stopped from here in another way.
int guardVerb(double timeout, const std::function<int()> &body);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_VERB_H
