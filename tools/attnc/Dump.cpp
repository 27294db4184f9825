//===- Dump.cpp - One numbered file per stage -----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Dump.h"

#include "tools/attnc/run/OutputFiles.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdio>

namespace attnc {

void Dump::add(const std::string &name, const std::string &content) {
  if (!enabled())
    return;
  char number[16];
  std::snprintf(number, sizeof number, "%02u-", count++);
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, number + name);
  auto written = writeFiles({{path.str().str(), content}});
  if (!written.isOk())
    failures.push_back(written.message());
}

/// A program beside `ptxas`, or in the search path.
static std::string findTool(llvm::StringRef name, llvm::StringRef ptxas) {
  llvm::StringRef folder = llvm::sys::path::parent_path(ptxas);
  if (!folder.empty())
    if (auto found = llvm::sys::findProgramByName(name, {folder}))
      return *found;
  if (auto found = llvm::sys::findProgramByName(name))
    return *found;
  return {};
}

std::string disassemble(const std::string &cubin, const std::string &ptxas) {
  std::string program = findTool("nvdisasm", ptxas);
  std::vector<llvm::StringRef> arguments = {program};
  if (program.empty()) {
    program = findTool("cuobjdump", ptxas);
    arguments = {program, "-sass"};
  }
  llvm::SmallString<128> input, output;
  if (program.empty() ||
      llvm::sys::fs::createTemporaryFile("attnc", "cubin", input) ||
      llvm::sys::fs::createTemporaryFile("attnc", "sass", output))
    return {};
  llvm::FileRemover removeInput(input), removeOutput(output);
  if (!writeFiles({{input.str().str(), cubin}}).isOk())
    return {};
  arguments.push_back(input);
  const std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef(""), llvm::StringRef(output), llvm::StringRef("")};
  if (llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects))
    return {};
  auto text = llvm::MemoryBuffer::getFile(output);
  return text ? (*text)->getBuffer().str() : std::string();
}

} // namespace attnc
