//===- Output.h - Files that are whole or not there ----------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_OUTPUT_H
#define ATTN_TOOLS_ATTNC_OUTPUT_H

#include <optional>
#include <string>
#include <vector>

namespace attnc {

struct OutputFile {
  /// "-" is standard output.
  std::string path;
  std::string content;
};

/// Writes all of the files or, where one cannot be written, none: each goes to
/// a temporary name beside its own, and the renames come last. Creates missing
/// directories. Returns an error message or nothing.
std::optional<std::string> writeFiles(const std::vector<OutputFile> &files);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_OUTPUT_H
