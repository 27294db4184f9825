//===- attnc.cpp - From an attention spec to a kernel ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/CommandFiles.h"
#include "tools/attnc/Explain.h"
#include "tools/attnc/Verbs.h"
#include "tools/attnc/spec/SpecSchema.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace attnc;

#ifdef ATTN_PLUGIN_PROGRAM
/// A plugin brings MLIR's shared library along, which a program linked against
/// archives must not meet: hands over to its twin, which is not.
static int runPluginProgram(char **argv) {
  std::string self = llvm::sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&runPluginProgram));
  llvm::SmallString<128> path(llvm::sys::path::parent_path(self));
  llvm::sys::path::append(path, ATTN_PLUGIN_PROGRAM);
  execv(path.c_str(), argv);
  return reportErrors({"--load-dialect-plugin: expected to start " +
                       path.str().str() + ", but got: " + std::strerror(errno)},
                      kFailed);
}
#endif

static int runVerb(const CommandLine &command) {
  if (auto code = Session::parseMLIRFlags(command.mlirFlags))
    return *code;
  if (auto code = checkFiles(command))
    return *code;
  switch (command.verb) {
  case Verb::Compile:
    return runCompile(command);
  case Verb::Schema:
    std::fputs(specSchema().c_str(), stdout);
    return kOk;
  case Verb::Run:
  case Verb::Bench:
    return runLaunch(command);
  case Verb::Explain:
    return runExplain(command);
  case Verb::Support:
    return runSupport(command);
  }
  return kFailed;
}

int main(int argc, char **argv) {
  CommandLine command;
  auto parsed = parseCommandLine(argc, argv, command);
#ifdef ATTN_PLUGIN_PROGRAM
  if (!parsed && !command.dialectPlugins.empty())
    return runPluginProgram(argv);
#endif
  int code = parsed ? *parsed : runVerb(command);
  if (code != kOk)
    return code;
  auto printed = finishStandardOutput();
  return printed.isOk() ? code : reportErrors({printed.message()}, kInvalid);
}
