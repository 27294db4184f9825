//===- CommandFiles.cpp - The files of a command line ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/CommandFiles.h"

namespace attnc {

using attn::runtime::Status;

std::vector<NamedFile> listInputs(const CommandLine &command) {
  std::vector<NamedFile> files;
  auto add = [&](const char *what, const std::string &path) {
    if (!path.empty())
      files.push_back({what, path});
  };
  add("the input", command.input == "-" ? "/dev/stdin" : command.input);
  add("--ptx-override", command.compile.ptxOverride);
  add("--ptxas-path", command.compile.ptxasPath);
  return files;
}

/// What follows the '=' of each flag.
static void addAssigned(const char *what, const std::vector<std::string> &texts,
                        std::vector<NamedFile> &files) {
  for (const std::string &text : texts)
    if (size_t equals = text.find('='); equals + 1 < text.size())
      files.push_back({what, text.substr(equals + 1)});
}

std::optional<int> checkFiles(const CommandLine &command) {
  std::vector<NamedFile> inputs = listInputs(command);
  addAssigned("--in", command.launch.tensors.in, inputs);
  // A shell may have opened it as one of them: `attnc explain S >> S`.
  Status status = checkInputsKept({{"standard output", "/dev/stdout"}}, inputs);
  if (status.isOk() && !command.compile.dumpTo.empty()) {
    std::vector<NamedFile> files = inputs;
    addAssigned("--out", command.launch.outputs, files);
    if (!command.compile.output.empty())
      files.push_back({"-o", command.compile.output});
    status = checkDumpFolder(command.compile.dumpTo, files);
  }
  if (status.isOk())
    return std::nullopt;
  return reportErrors({status.message()}, kInvalid);
}

} // namespace attnc
