//===- attn-launch.cpp - run and bench without the compiler ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verbs run and bench of attnc for a kernel that is compiled already: for
// machines that have a GPU but no LLVM. Links statically what it needs, so that
// the file can be copied there.
//
//===----------------------------------------------------------------------===//

#include "runtime/Launch.h"
#include "tools/attnc/run/Bench.h"
#include "tools/attnc/run/IntegerFlag.h"
#include "tools/attnc/run/Run.h"
#include "tools/attnc/run/Verb.h"
#include "tools/attnc/spec/SpecMatch.h"

#include <CLI/CLI.hpp>

using namespace attnc;
using attn::runtime::Expected;
using attn::runtime::Manifest;
using attn::runtime::readFile;
using attn::runtime::Status;

namespace {
struct Flags {
  std::string manifest, spec;
  RunOptions run;
  BenchOptions bench;
  bool skipChecks = false;
};
} // namespace

/// What both verbs understand, into the options of `run`.
static void addSharedFlags(CLI::App &verb, Flags &flags) {
  verb.add_option("manifest", flags.manifest, "NAME.json of a compiled kernel")
      ->required();
  verb.add_option("--spec", flags.spec, "spec file that it was compiled from")
      ->required();
  TensorOptions &tensors = flags.run.tensors;
  verb.add_option("--shape", tensors.shape, "sizes, e.g. b=2,sq=64,sk=64");
  verb.add_option("--in", tensors.in, "an input, q=q.npy");
  verb.add_option("--strides", tensors.strides, "in elements, q=B,S,H,D");
  verb.add_option("--offset", tensors.offset, "in elements, q=N");
  verb.add_option("--seed", tensors.seed, "of random inputs")
      ->check(integerFrom(0, UINT64_MAX));
  verb.add_option("--device", flags.run.device, "auto, cuda, cuda:N, emulator");
  verb.add_option("--grid-limit", flags.run.gridLimit, "at most so many blocks")
      ->check(integerFrom(1, UINT32_MAX));
  verb.add_option("--runs", flags.run.runs, "launches")
      ->check(integerFrom(1, INT32_MAX));
  verb.add_option("--timeout", flags.run.timeout, "seconds until giving up");
  verb.add_flag("--json", flags.run.json, "print JSON");
}

static void addRunFlags(CLI::App &verb, Flags &flags) {
  verb.add_option("--out", flags.run.out, "where a result goes, o=o.npy");
  verb.add_option("--emulator-seed", flags.run.emulatorSeed,
                  "of the order of warps")
      ->check(integerFrom(0, UINT64_MAX));
  verb.add_flag("--no-checks", flags.skipChecks,
                "run the emulator without its checks");
  verb.add_option("--check-rows", flags.run.checkRows,
                  "compare only so many rows")
      ->check(integerFrom(1, INT64_MAX));
  verb.add_flag("--stats", flags.run.stats, "count what the emulator did");
}

static void addBenchFlags(CLI::App &verb, Flags &flags) {
  verb.add_flag("--csv", flags.bench.csv, "print CSV");
  verb.add_option("--ceiling-tflops", flags.bench.ceilingTflops,
                  "what a matrix product reaches on this machine");
}

/// The spec as attnc reads it, checked by the same rules, and the kernel's: a
/// kernel of another problem would go past the ends of this one's tensors.
static int readSpec(const Flags &flags, const Manifest &manifest,
                    Artifact &artifact) {
  Expected<std::string> text = readFile(flags.spec);
  if (!text)
    return reportError(text.status());
  Errors errors;
  artifact.spec =
      readMatchingSpec(*text, flags.spec, manifest.specText, errors);
  for (const std::string &message : errors)
    (void)reportError(Status::invalidArgument(message));
  return errors.empty() ? 0 : 2;
}

static int loadArtifact(const Flags &flags, Artifact &artifact) {
  Expected<std::string> text = readFile(flags.manifest);
  if (!text)
    return reportError(text.status());
  artifact.manifest = std::move(*text);
  Expected<Manifest> manifest = attn::runtime::parseManifest(artifact.manifest);
  if (!manifest)
    return reportError(manifest.status());
  if (int code = readSpec(flags, *manifest, artifact))
    return code;
  Expected<std::string> image =
      attn::runtime::readImage(flags.manifest, *manifest);
  if (!image)
    return reportError(image.status());
  artifact.image = std::move(*image);
  artifact.sources = {{"--spec", flags.spec}, {"the manifest", flags.manifest}};
  std::string folder = flags.manifest.substr(0, flags.manifest.rfind('/') + 1);
  for (const std::string &file : {manifest->ptxFile, manifest->cubinFile})
    if (!file.empty())
      artifact.sources.push_back({"the kernel", folder + file});
  return 0;
}

int main(int argc, char **argv) {
  CLI::App app{"run or measure a compiled attention kernel"};
  app.require_subcommand(1);
  Flags flags;
  CLI::App *run = app.add_subcommand("run", "compare with a float64 reference");
  CLI::App *bench = app.add_subcommand("bench", "measure speed on a GPU");
  addSharedFlags(*run, flags);
  addSharedFlags(*bench, flags);
  addRunFlags(*run, flags);
  addBenchFlags(*bench, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  Artifact loaded;
  if (int code = guardVerb(0, [&] { return loadArtifact(flags, loaded); }))
    return code;
  if (run->parsed()) {
    flags.run.artifact = std::move(loaded);
    flags.run.checks = !flags.skipChecks;
    return runVerb(flags.run);
  }
  flags.bench.artifact = std::move(loaded);
  flags.bench.tensors = flags.run.tensors;
  flags.bench.device = flags.run.device;
  flags.bench.gridLimit = flags.run.gridLimit;
  flags.bench.runs = bench->count("--runs") ? flags.run.runs : 0;
  flags.bench.timeout = flags.run.timeout;
  flags.bench.json = flags.run.json;
  return benchVerb(flags.bench);
}
