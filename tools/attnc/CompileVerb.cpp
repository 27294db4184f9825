//===- CompileVerb.cpp - The verb that writes artifacts -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/CommandFiles.h"
#include "tools/attnc/Verbs.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace attnc {

int compileProblem(Session &session, const ModuleProblem &problem,
                   const CompileFlags &flags, Emit last, Compiled &result) {
  MaybeFailure failure = compileProblem(
      problem, flags, last, result,
      [&](mlir::PassManager &manager) { session.configure(manager); });
  for (const std::string &warning : result.warnings)
    llvm::errs() << "warning: " << warning << "\n";
  return failure ? reportFailure(*failure) : static_cast<int>(kOk);
}

/// Whether `-o` names one file of a bundle; anything else is a directory.
static bool isBundleFile(llvm::StringRef path) {
  llvm::StringRef extension = llvm::sys::path::extension(path);
  return !llvm::sys::fs::is_directory(path) &&
         (extension == ".ptx" || extension == ".json" || extension == ".cubin");
}

/// The files of a bundle beside each other.
static std::vector<OutputFile> bundle(const Compiled &result,
                                      const CompileFlags &flags) {
  llvm::StringRef directory = flags.output;
  llvm::StringRef stem = result.name;
  if (!flags.fileStem.empty()) {
    directory = llvm::sys::path::parent_path(flags.output);
    stem = flags.fileStem;
  }
  auto place = [&](const char *extension) {
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, stem + extension);
    return path.str().str();
  };
  // The manifest comes last: whoever sees it may rely on the rest.
  std::vector<OutputFile> files = {{place(".ptx"), result.ptx}};
  if (!result.cubin.empty())
    files.push_back({place(".cubin"), result.cubin});
  files.push_back({place(".json"), result.manifest});
  return files;
}

static std::vector<OutputFile> outputFiles(const Compiled &result,
                                           const CompileFlags &flags) {
  const std::string &output = flags.output;
  if (flags.emit == Emit::Bundle)
    return bundle(result, flags);
  if (flags.emit != Emit::Cubin)
    return {{output.empty() ? "-" : output, result.text}};
  if (output == "-" || isBundleFile(output))
    return {{output, result.cubin}};
  return bundle(result, flags);
}

/// Flags that would be accepted and ignored.
static Errors checkFlags(const CompileFlags &flags) {
  Errors errors;
  if (!flags.ptxOverride.empty() && flags.emit < Emit::PTX)
    errors.push_back("--ptx-override: expected --emit ptx, cubin or bundle");
  if (!flags.ptxasPath.empty() && flags.emit < Emit::Cubin)
    errors.push_back("--ptxas-path: expected --emit cubin or bundle");
  if (flags.emit == Emit::Bundle && flags.output == "-")
    errors.push_back("-o: expected a file or directory for a bundle, but got "
                     "standard output");
  return errors;
}

/// The host is compiled for in the process that runs the result.
static std::optional<std::string> checkHost(Emit emit) {
  if (emit == Emit::Attn || emit == Emit::Tiled || emit == Emit::LLVM)
    return std::nullopt;
  return "--emit: target host has no kernel, PTX or bundle: it is compiled in "
         "the process that runs it; expected attn, tiled or llvm";
}

/// Standard output is "-", and then the only one.
static int writeOutputs(const CommandLine &command,
                        const std::vector<OutputFile> &files) {
  auto written = attn::runtime::Status::ok();
  if (files.front().path == "-") {
    written = writeStandardOutput(files.front().content);
  } else {
    std::vector<NamedFile> outputs;
    for (const OutputFile &file : files)
      outputs.push_back({"-o", file.path});
    written = checkOutputs(outputs, listInputs(command));
    if (written.isOk())
      written = writeFiles(files);
  }
  return written.isOk() ? kOk : reportErrors({written.message()}, kInvalid);
}

int runCompile(const CommandLine &command) {
  CompileFlags flags = command.compile;
  if (Errors errors = checkFlags(flags); !errors.empty())
    return reportErrors(errors, kInvalid);
  if (flags.emit == Emit::Bundle && isBundleFile(flags.output))
    flags.fileStem = llvm::sys::path::stem(flags.output).str();
  Session session(command.dialectPlugins);
  ModuleProblem problem;
  if (auto code = loadProblem(session, command, problem))
    return *code;
  if (problem.isHost())
    if (std::optional<std::string> reason = checkHost(flags.emit))
      return reportErrors({*reason}, kUnsupported);
  Compiled result;
  if (int code = compileProblem(session, problem, flags, flags.emit, result))
    return code;
  return writeOutputs(command, outputFiles(result, flags));
}

} // namespace attnc
