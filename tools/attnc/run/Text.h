//===- Text.h - printf into a string -------------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_TEXT_H
#define ATTN_TOOLS_ATTNC_RUN_TEXT_H

#include "tools/attnc/run/Problem.h"

#include <string>

namespace attnc {

/// At most 511 characters of what printf would print, with a decimal point
/// whatever the locale.
__attribute__((format(printf, 1, 2))) std::string format(const char *pattern,
                                                         ...);

/// One line for people.
std::string printProblem(const Problem &problem);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_TEXT_H
