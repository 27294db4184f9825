//===- Run.cpp - attnc run ------------------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Run.h"

#include "tools/attnc/run/Npy.h"
#include "tools/attnc/run/Verb.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace attnc {

using attn::runtime::EmulatorOptions;
using attn::runtime::Expected;
using attn::runtime::Manifest;
using attn::runtime::OpenedDevice;
using attn::runtime::parseManifest;
using attn::runtime::Status;

Expected<OpenedDevice> openDeviceFor(const Artifact &artifact,
                                     const std::string &name,
                                     const EmulatorOptions &options) {
  if (artifact.device)
    return OpenedDevice{artifact.device, "host", "", nullptr};
  return attn::runtime::openDevice(name, options);
}

namespace {

class Runner {
public:
  Runner(const RunOptions &options, const Manifest &manifest)
      : options_(options), manifest_(manifest) {}

  Expected<RunResult> run();

private:
  Status checkOutputFiles();
  Status checkOptions();
  Expected<std::unique_ptr<LaunchSession>> openSession(int64_t runIndex);
  Status launchTimed(int64_t runIndex);
  Status runOnce(int64_t runIndex);
  Status compareBits(int64_t runIndex);
  void compare();
  Status writeOutputs();
  const HostTensor *find(const char *name) const {
    std::optional<int> index = manifest_.findTensor(name);
    return index ? &tensors_.host[*index] : nullptr;
  }

  const RunOptions &options_;
  const Manifest &manifest_;
  Tensors tensors_;
  /// What --out asks for.
  std::vector<Assignment> out_;
  std::unique_ptr<LaunchSession> session_;
  /// The first run's outputs, where there is a second run.
  std::vector<HostTensor> first_;
  RunResult result_;
};

} // namespace

/// Reads the flags --out, and finds out whether all of them can be written.
Status Runner::checkOutputFiles() {
  std::vector<NamedFile> outputs, inputs = options_.artifact.sources;
  for (const std::string &text : options_.out) {
    Expected<Assignment> out = parseAssignment(manifest_, "--out", text);
    if (!out)
      return out.status();
    outputs.push_back({"--out", out->value});
    out_.push_back(std::move(*out));
  }
  for (const std::string &text : options_.tensors.in)
    inputs.push_back({"--in", text.substr(text.find('=') + 1)});
  return checkOutputs(outputs, inputs);
}

/// What would otherwise be found only after the launch.
Status Runner::checkOptions() {
  if (options_.runs < 1)
    return Status::invalidArgument("--runs: expected at least 1, but got " +
                                   std::to_string(options_.runs));
  if (Status status = checkOutputFiles(); !status.isOk())
    return status;
  for (const char *name : {"q", "k", "v", "o"})
    if (!manifest_.findTensor(name))
      return Status::unsupported(std::string("run: expected a kernel with "
                                             "tensor ") +
                                 name + ", but got one without");
  return Status::ok();
}

Expected<std::unique_ptr<LaunchSession>> Runner::openSession(int64_t runIndex) {
  EmulatorOptions emulator;
  emulator.checks = options_.checks;
  emulator.counts = options_.stats;
  emulator.seed = options_.emulatorSeed ? options_.emulatorSeed + runIndex : 0;
  emulator.major = manifest_.major;
  emulator.minor = manifest_.minor;
  Expected<OpenedDevice> opened =
      openDeviceFor(options_.artifact, options_.device, emulator);
  if (!opened)
    return opened.status();
  result_.deviceKind = opened->kind;
  result_.deviceName = opened->device->info().name;
  result_.deviceNote = opened->note;
  LaunchSessionOptions sessionOptions;
  sessionOptions.gridLimit = options_.gridLimit;
  sessionOptions.scalars = launchScalars(options_.artifact.spec);
  return LaunchSession::open(std::move(*opened), options_.artifact.manifest,
                             options_.artifact.image, tensors_, sessionOptions);
}

Status Runner::launchTimed(int64_t runIndex) {
  auto begin = std::chrono::steady_clock::now();
  std::clock_t cpuBegin = std::clock();
  if (Status status = session_->launch(); !status.isOk())
    return status;
  if (Status status = session_->device().synchronize(); !status.isOk())
    return Status::launchFailed(manifest_.name + ": " + status.message());
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  double cpuSeconds =
      static_cast<double>(std::clock() - cpuBegin) / CLOCKS_PER_SEC;
  bool isFirst = runIndex == 0;
  result_.seconds =
      isFirst ? seconds.count() : std::min(result_.seconds, seconds.count());
  result_.cpuSeconds =
      isFirst ? cpuSeconds : std::min(result_.cpuSeconds, cpuSeconds);
  return Status::ok();
}

Status Runner::runOnce(int64_t runIndex) {
  // Another seed needs another emulator.
  bool isReseeded =
      session_ && session_->opened().emulator && options_.emulatorSeed != 0;
  if (!session_ || isReseeded) {
    session_.reset();
    Expected<std::unique_ptr<LaunchSession>> session = openSession(runIndex);
    if (!session)
      return session.status();
    session_ = std::move(*session);
  }
  if (Status status = session_->poisonOutputs(); !status.isOk())
    return status;
  session_->opened().resetStatistics();
  if (Status status = launchTimed(runIndex); !status.isOk())
    return status;
  result_.statistics = session_->opened().statistics();
  result_.traffic = session_->traffic(tensors_);
  if (Status status = session_->checkGuards(); !status.isOk())
    return status;
  return session_->gatherOutputs(tensors_);
}

Status Runner::compareBits(int64_t runIndex) {
  if (options_.runs == 1)
    return Status::ok();
  if (runIndex == 0) {
    first_ = tensors_.host;
    return Status::ok();
  }
  for (size_t t = 0; t < first_.size(); ++t)
    if (first_[t].data != tensors_.host[t].data && !result_.unstableRun)
      result_.unstableRun = runIndex;
  return Status::ok();
}

void Runner::compare() {
  ReferenceInputs inputs{find("q"), find("k"), find("v")};
  int64_t rows = options_.checkRows;
  if (rows == 0)
    rows = affordableRows(tensors_.problem);
  result_.comparison = compareResults(tensors_.problem, inputs, *find("o"),
                                      find("lse"), rows, options_.tensors.seed);
}

Status Runner::writeOutputs() {
  std::vector<OutputFile> files;
  for (const Assignment &out : out_)
    files.push_back({out.value, printNpy(tensors_.host[out.tensor])});
  return writeFiles(files);
}

Expected<RunResult> Runner::run() {
  if (Status status = checkOptions(); !status.isOk())
    return status;
  Expected<Tensors> tensors =
      prepareTensors(manifest_, options_.artifact.spec, options_.tensors);
  if (!tensors)
    return tensors.status();
  tensors_ = std::move(*tensors);
  result_.kernelName = manifest_.name;
  result_.problem = tensors_.problem;
  result_.runs = options_.runs;
  result_.checks = options_.checks;
  for (int64_t i = 0; i < options_.runs; ++i) {
    if (Status status = runOnce(i); !status.isOk())
      return status;
    if (Status status = compareBits(i); !status.isOk())
      return status;
  }
  session_.reset();
  if (Status status = writeOutputs(); !status.isOk())
    return status;
  compare();
  return std::move(result_);
}

Expected<RunResult> run(const RunOptions &options) {
  Expected<Manifest> manifest = parseManifest(options.artifact.manifest);
  if (!manifest)
    return manifest.status();
  return Runner(options, *manifest).run();
}

int runVerb(const RunOptions &options) {
  return guardVerb(options.timeout, [&] {
    Expected<RunResult> result = run(options);
    if (!result)
      return reportError(result.status());
    std::string text = options.json ? printJson(*result, options.stats)
                                    : printText(*result, options.stats);
    int code = printReport(text);
    return result->isPassed() ? code : 1;
  });
}

} // namespace attnc
