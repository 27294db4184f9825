//===- CommandFiles.h - The files of a command line ----------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_COMMANDFILES_H
#define ATTN_TOOLS_ATTNC_COMMANDFILES_H

#include "tools/attnc/CommandLine.h"
#include "tools/attnc/run/OutputFiles.h"

namespace attnc {

/// What the command reads but the arrays of --in.
std::vector<NamedFile> listInputs(const CommandLine &command);

/// Holds what every verb may write, standard output and --dump-to, against what
/// it reads. An exit code, with the error printed, where one is the other.
std::optional<int> checkFiles(const CommandLine &command);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_COMMANDFILES_H
