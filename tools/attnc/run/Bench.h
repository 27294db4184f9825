//===- Bench.h - attnc bench ---------------------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_BENCH_H
#define ATTN_TOOLS_ATTNC_RUN_BENCH_H

#include "tools/attnc/run/Run.h"

namespace attnc {

struct BenchOptions {
  Artifact artifact;
  TensorOptions tensors;
  std::string device = "auto";
  uint32_t gridLimit = 0;
  /// Timed launches; 0 for as many as fit into about half a second, within
  /// [10, 200].
  int64_t runs = 0;
  double timeout = 0;
  /// What a plain matrix product of the dtype reaches on this machine; 0 to
  /// measure it with cuBLAS, where that is found.
  double ceilingTflops = 0;
  bool json = false, csv = false;
};

struct BenchResult {
  std::string deviceKind, deviceName, deviceNote, kernelName;
  Problem problem;
  double flops = 0;
  /// What must move at least: by the manifest, else every tensor once.
  double hbmBytes = 0;

  // Not on the emulator.
  int64_t runs = 0;
  double medianSeconds = 0, minSeconds = 0, maxSeconds = 0;
  /// Bytes read and written per second by a copy within the device.
  double copyBytesPerSecond = 0;
  /// 0 where it is not known, and why.
  double ceilingTflops = 0;
  std::string ceilingNote;
  /// Memory that launches took beyond the tensors, the workspace included;
  /// nothing where the device cannot tell.
  std::optional<uint64_t> extraBytes;

  /// The emulator's counters as JSON; its time is no measure of anything.
  std::string statistics;

  double tflops() const { return flops / medianSeconds / 1e12; }
  double bytesPerSecond() const { return hbmBytes / medianSeconds; }
};

attn::runtime::Expected<BenchResult> bench(const BenchOptions &options);

/// The verb: prints the result to stdout and errors to stderr; returns the exit
/// code. Does not throw.
int benchVerb(const BenchOptions &options);

std::string printText(const BenchResult &result);
std::string printJson(const BenchResult &result);
/// A line of column names and a line of values.
std::string printCsv(const BenchResult &result);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_BENCH_H
