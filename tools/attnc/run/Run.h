//===- Run.h - attnc run -------------------------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_RUN_H
#define ATTN_TOOLS_ATTNC_RUN_RUN_H

#include "tools/attnc/run/Compare.h"
#include "tools/attnc/run/LaunchSession.h"
#include "tools/attnc/run/OutputFiles.h"
#include "tools/attnc/run/Tensors.h"

namespace attnc {

/// What is run: the complete spec with the values of this run (JSON), and the
/// compiled kernel.
struct Artifact {
  std::string spec;
  std::string manifest;
  /// PTX text or a cubin; for `device` what that takes.
  std::string image;
  /// The files that it comes from, which no result may replace.
  std::vector<NamedFile> sources;
  /// The only device that can run it; null where the user may choose.
  std::shared_ptr<attn::runtime::Device> device;
};

/// The artifact's own device, or the one of that name.
attn::runtime::Expected<attn::runtime::OpenedDevice>
openDeviceFor(const Artifact &artifact, const std::string &name,
              const attn::runtime::EmulatorOptions &options);

struct RunOptions {
  Artifact artifact;
  TensorOptions tensors;
  /// "o=o.npy"
  std::vector<std::string> out;
  /// auto, cuda, cuda:N or emulator.
  std::string device = "auto";
  /// At most this many blocks; 0 for no limit.
  uint32_t gridLimit = 0;
  /// Order of warps in the emulator, another one in each run; 0 is a fixed one.
  uint64_t emulatorSeed = 0;
  /// The emulator's checks.
  bool checks = true;
  /// Launches, which must agree in every bit.
  int64_t runs = 1;
  /// Rows compared with the reference; 0 for all that it can do in reasonable
  /// time.
  int64_t checkRows = 0;
  /// Seconds after which the process ends with exit code 1; 0 for never.
  double timeout = 0;
  /// The emulator's counters.
  bool stats = false;
  bool json = false;
};

/// What a run found out.
struct RunResult {
  std::string deviceKind, deviceName, deviceNote, kernelName;
  Problem problem;
  Comparison comparison;
  int64_t runs = 1;
  /// The first run whose outputs differ from the first one's in a bit.
  std::optional<int64_t> unstableRun;
  /// The emulator's counters as JSON, and its traffic by tensor.
  std::string statistics;
  std::vector<TensorTraffic> traffic;
  /// Of the emulator's fastest launch: by the clock, and of all threads
  /// together. Also whether it checked.
  double seconds = 0, cpuSeconds = 0;
  bool checks = true;

  bool isPassed() const { return comparison.isWithinBar() && !unstableRun; }
};

/// Runs and compares. The status is that of everything but the numbers.
attn::runtime::Expected<RunResult> run(const RunOptions &options);

/// The verb: prints the result to stdout and errors to stderr; returns the exit
/// code. Does not throw.
int runVerb(const RunOptions &options);

std::string printText(const RunResult &result, bool withStatistics);
std::string printJson(const RunResult &result, bool withStatistics);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_RUN_H
