//===- LaunchVerbs.cpp - The verbs that launch what they compile ----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/CommandFiles.h"
#include "tools/attnc/Compile.h"
#include "tools/attnc/HostDevice.h"
#include "tools/attnc/SpecCanonical.h"
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

/// Flags that say something about GPUs.
static void checkHostFlags(const CommandLine &command, Errors &errors) {
  const LaunchFlags &launch = command.launch;
  if (launch.device != "auto" && launch.device != "host")
    errors.push_back("--device: expected auto or host with target host, but "
                     "got '" +
                     launch.device + "'");
  const std::pair<const char *, bool> flags[] = {
      {"--grid-limit", launch.gridLimit != 0},
      {"--emulator-seed", launch.emulatorSeed != 0},
      {"--no-checks", launch.skipChecks},
      {"--ptx-override", !command.compile.ptxOverride.empty()},
      {"--ptxas-path", !command.compile.ptxasPath.empty()}};
  for (auto [flag, isGiven] : flags)
    if (isGiven)
      errors.push_back(std::string(flag) +
                       ": expected a target with kernels, but got 'host'");
}

/// Flags that mean nothing for this spec.
static Errors checkFlags(const CommandLine &command, const Spec &spec) {
  Errors errors;
  const std::pair<const char *, const std::string &> lengths[] = {
      {"--seqlens-q", command.launch.seqlensQ},
      {"--seqlens-k", command.launch.seqlensK}};
  for (const auto &[flag, text] : lengths)
    if (!text.empty() && spec.layout != Layout::THD)
      errors.push_back(std::string(flag) + ": expected layout thd, but got '" +
                       toString(spec.layout) + "'");
  if (spec.isHost())
    checkHostFlags(command, errors);
  return errors;
}

/// Compiles in the style that the flags ask for, or the target's best, and
/// launches. `chosen` is the style that it came to.
static int compileAndLaunch(const CommandLine &command,
                            std::optional<mlir::attn::Style> &chosen) {
  Artifact artifact;
  {
    Session session;
    ModuleProblem problem;
    if (auto code = loadProblem(session, command, problem))
      return *code;
    if (Errors errors = checkFlags(command, problem.spec); !errors.empty())
      return reportErrors(errors, kInvalid);
    Compiled result;
    if (int code = compileProblem(session, problem, command.compile,
                                  Emit::Bundle, result))
      return code;
    // A schedule of the user's own is not exchanged for another.
    if (!problem.schedule)
      chosen = result.style;
    artifact.spec = completeSpec(problem.spec).dump();
    artifact.sources = listInputs(command);
    artifact.manifest = std::move(result.manifest);
    // A cubin is there where the user named a ptxas: then that is to be run.
    artifact.image =
        std::move(result.cubin.empty() ? result.ptx : result.cubin);
    if (problem.spec.isHost()) {
      artifact.image = std::move(result.hostIR);
      artifact.device = createHostDevice();
    }
  }
  if (command.verb == Verb::Run)
    return runVerb(makeRunOptions(command, std::move(artifact)));
  return benchVerb(makeBenchOptions(command, std::move(artifact)));
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
