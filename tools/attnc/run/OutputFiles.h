//===- OutputFiles.h - Files that are whole or not there ------ -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that writes files for a user. Before a command does anything,
// what it is going to write is held against what it reads: no output replaces
// an input, or another output, under whatever name. Then all files of a command
// appear together, each by renaming, or none does.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_OUTPUTFILES_H
#define ATTN_TOOLS_ATTNC_RUN_OUTPUTFILES_H

#include "runtime/Status.h"

#include <string>
#include <vector>

namespace attnc {

/// A file of a command.
struct NamedFile {
  /// How the user says it, for messages: "--out", "the spec".
  std::string what;
  std::string path;
};

struct OutputFile {
  /// A link is followed. What is no regular file, like a pipe or a device, is
  /// written to and stays what it is.
  std::string path;
  std::string content;
};

/// Why these outputs cannot be written beside these inputs, all of which keep
/// what they hold. Leaves nothing behind.
attn::runtime::Status checkOutputs(const std::vector<NamedFile> &outputs,
                                   const std::vector<NamedFile> &inputs);

/// The first half of that: no output is an input. Nothing is written.
attn::runtime::Status checkInputsKept(const std::vector<NamedFile> &outputs,
                                      const std::vector<NamedFile> &inputs);

/// The same of a folder for numbered files, NN-NAME: none of `files` may be one
/// of them.
attn::runtime::Status checkDumpFolder(const std::string &folder,
                                      const std::vector<NamedFile> &files);

/// Writes all of the files or, where one cannot be written, none. Creates
/// missing folders.
attn::runtime::Status writeFiles(const std::vector<OutputFile> &files);

/// Writes `text` to standard output.
attn::runtime::Status writeStandardOutput(const std::string &text);

/// Whether all that was printed so far has arrived: a full disk shows late.
attn::runtime::Status finishStandardOutput();

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_OUTPUTFILES_H
