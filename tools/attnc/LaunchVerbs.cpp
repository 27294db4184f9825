//===- LaunchVerbs.cpp - The verbs that launch what they compile ----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/CommandFiles.h"
#include "tools/attnc/HostDevice.h"
#include "tools/attnc/MaskIntervals.h"
#include "tools/attnc/Verbs.h"
#include "tools/attnc/run/Bench.h"
#include "tools/attnc/run/Run.h"

#include "llvm/Support/raw_ostream.h"

namespace attnc {

static RunOptions makeRunOptions(const CommandLine &command,
                                 Artifact artifact) {
  const LaunchFlags &flags = command.launch;
  RunOptions options;
  options.artifact = std::move(artifact);
  options.tensors = flags.tensors;
  options.out = flags.outputs;
  options.device = flags.device;
  options.gridLimit = flags.gridLimit;
  options.emulatorSeed = flags.emulatorSeed;
  options.checks = !flags.skipChecks;
  options.runs = std::max<int64_t>(1, flags.runs);
  options.checkRows = flags.checkRows;
  options.timeout = flags.timeout;
  options.stats = flags.stats;
  options.json = command.json;
  return options;
}

static BenchOptions makeBenchOptions(const CommandLine &command,
                                     Artifact artifact) {
  const LaunchFlags &flags = command.launch;
  BenchOptions options;
  options.artifact = std::move(artifact);
  options.tensors = flags.tensors;
  options.device = flags.device;
  options.gridLimit = flags.gridLimit;
  options.runs = flags.runs;
  options.timeout = flags.timeout;
  options.ceilingTflops = flags.ceilingTflops;
  options.json = command.json;
  options.csv = command.csv;
  return options;
}

/// Compiles in the style that the flags ask for, or the target's best, and
/// launches. `chosen` is the style that it came to.
static int compileAndLaunch(const CommandLine &command,
                            std::optional<mlir::attn::Style> &chosen) {
  Session session(command.dialectPlugins);
  ModuleProblem problem;
  if (auto code = loadProblem(session, command, problem))
    return *code;
  Compiled result;
  if (int code = compileProblem(session, problem, command.compile, Emit::Bundle,
                                result))
    return code;
  // A schedule of the user's own is not exchanged for another.
  if (!problem.getOp().getScheduleAttr())
    chosen = result.style;
  Artifact artifact;
  artifact.spec = problem.complete().dump();
  artifact.sources = listInputs(command);
  artifact.manifest = std::move(result.manifest);
  // A cubin is there where the user named a ptxas: then that is to be run.
  artifact.image = std::move(result.cubin.empty() ? result.ptx : result.cubin);
  if (problem.isHost()) {
    artifact.image = std::move(result.hostIR);
    artifact.device = createHostDevice();
  }
  FindIntervals intervals = findIntervals(problem.getOp());
  if (command.verb == Verb::Run) {
    RunOptions options = makeRunOptions(command, std::move(artifact));
    options.tensors.findIntervals = std::move(intervals);
    return runVerb(options);
  }
  BenchOptions options = makeBenchOptions(command, std::move(artifact));
  options.tensors.findIntervals = std::move(intervals);
  return benchVerb(options);
}

int runLaunch(const CommandLine &command) {
  std::optional<mlir::attn::Style> chosen;
  int code = compileAndLaunch(command, chosen);
  if (code != kUnsupported || chosen != mlir::attn::Style::FA3 ||
      !command.compile.allowFallback)
    return code;
  llvm::errs() << "warning: style fa3 cannot run this, as said above; trying "
                  "style fa2, since --allow-fallback was given\n";
  CommandLine other = command;
  other.compile.style = "fa2";
  return compileAndLaunch(other, chosen);
}

} // namespace attnc
