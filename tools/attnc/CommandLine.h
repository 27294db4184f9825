//===- CommandLine.h - What a user typed ---------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_COMMANDLINE_H
#define ATTN_TOOLS_ATTNC_COMMANDLINE_H

#include "tools/attnc/CompileFlags.h"
#include "tools/attnc/Failure.h"
#include "tools/attnc/run/Tensors.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attnc {

enum class Verb { Compile, Run, Bench, Explain, Support, Schema };

/// What `run` and `bench` understand beyond the spec.
struct LaunchFlags {
  TensorOptions tensors;
  std::vector<std::string> outputs;
  std::string seqlensQ, seqlensK;
  std::string device = "auto";
  uint32_t gridLimit = 0;
  uint64_t emulatorSeed = 0;
  bool skipChecks = false;
  /// Launches; 0 for the verb's own choice.
  int64_t runs = 0;
  int64_t checkRows = 0;
  double timeout = 0;
  double ceilingTflops = 0;
  bool stats = false;
};

struct CommandLine {
  Verb verb = Verb::Compile;
  /// A spec file or a .mlir or .mlirbc file; empty if the flags say it all.
  std::string input;
  /// In the order typed.
  std::vector<std::pair<const Field *, std::string>> specFlags;
  CompileFlags compile;
  LaunchFlags launch;
  bool json = false;
  bool csv = false;
  /// Options of LLVM and MLIR, without change.
  std::vector<std::string> mlirFlags;
  /// Shared libraries with dialects that a module uses.
  std::vector<std::string> dialectPlugins;
};

/// Fills `result`, or prints help or an error and returns the exit code.
std::optional<int> parseCommandLine(int argc, char **argv, CommandLine &result);

/// The flags of a launch, beside a spec that is valid by itself.
void checkLaunchFlags(const CommandLine &command, const Spec &spec,
                      Errors &errors);

/// Prints each message, of very many the first, as an error; returns `code`.
int reportErrors(const Errors &errors, int code);
int reportFailure(const Failure &failure);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_COMMANDLINE_H
