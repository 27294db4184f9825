//===- CompileVerb.cpp - The verb that writes artifacts -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/Compile.h"
#include "tools/attnc/Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace attnc {

/// A directory that is there, or that the user clearly means to be one.
static bool isDirectory(llvm::StringRef path) {
  return path.empty() || path.ends_with("/") ||
         llvm::sys::fs::is_directory(path) ||
         llvm::sys::path::extension(path).empty();
}

static std::string append(llvm::StringRef directory, llvm::StringRef name) {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// The files of a bundle. The manifest names its neighbours by the kernel's
/// name, so a file name given for a bundle has to be that.
static std::vector<OutputFile> bundle(const Compiled &result,
                                      llvm::StringRef directory) {
  // The manifest comes last: whoever sees it may rely on the rest.
  std::vector<OutputFile> files = {
      {append(directory, result.name + ".ptx"), result.ptx}};
  if (!result.cubin.empty())
    files.push_back({append(directory, result.name + ".cubin"), result.cubin});
  files.push_back({append(directory, result.name + ".json"), result.manifest});
  return files;
}

static std::vector<OutputFile> outputFiles(const Compiled &result, Emit emit,
                                           const std::string &output) {
  bool toDirectory = output != "-" && isDirectory(output);
  switch (emit) {
  case Emit::Bundle:
    return bundle(result, output);
  case Emit::Cubin:
    if (toDirectory)
      return bundle(result, output);
    return {{output, result.cubin}};
  default:
    return {{output.empty() ? "-" : output, result.text}};
  }
}

/// Flags that would be accepted and ignored.
static Errors checkFlags(const CompileFlags &flags) {
  Errors errors;
  bool reachesPTX = flags.emit >= Emit::PTX;
  if (!flags.ptxOverride.empty() && !reachesPTX)
    errors.push_back("--ptx-override: expected --emit ptx, cubin or bundle");
  if (!flags.ptxasPath.empty() && flags.emit < Emit::Cubin &&
      flags.dumpTo.empty())
    errors.push_back(
        "--ptxas-path: expected --emit cubin or bundle, or --dump-to");
  if (flags.emit == Emit::Bundle && !isDirectory(flags.output))
    errors.push_back("-o: expected a directory for a bundle, but got '" +
                     flags.output + "'");
  return errors;
}

int runCompile(const CommandLine &command) {
  const CompileFlags &flags = command.compile;
  if (Errors errors = checkFlags(flags); !errors.empty())
    return reportErrors(errors, kInvalid);
  Session session;
  ModuleProblem problem;
  if (auto code = loadProblem(session, command, problem))
    return *code;
  Compiled result;
  if (int code = compileProblem(session, problem, flags, flags.emit, result))
    return code;
  if (auto error = writeFiles(outputFiles(result, flags.emit, flags.output)))
    return reportErrors({*error}, kInvalid);
  return kOk;
}

} // namespace attnc
