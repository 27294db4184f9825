//===- Bench.cpp - attnc bench --------------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Bench.h"

#include "tools/attnc/run/LaunchSession.h"
#include "tools/attnc/run/MatrixCeiling.h"
#include "tools/attnc/run/Verb.h"

#include <algorithm>

namespace attnc {

using attn::runtime::Device;
using attn::runtime::DevicePtr;
using attn::runtime::EmulatorOptions;
using attn::runtime::Expected;
using attn::runtime::Manifest;
using attn::runtime::OpenedDevice;
using attn::runtime::parseManifest;
using attn::runtime::Status;
using attn::runtime::StatusCode;
using attn::runtime::Timer;

namespace {

/// More than any L2 holds: writing it leaves nothing of the tensors there.
constexpr size_t kFlushBytes = size_t(512) << 20;
constexpr double kTimedSeconds = 0.5;
constexpr int64_t kMinRuns = 10, kMaxRuns = 200;

/// Device memory for a scope.
class Scratch {
public:
  explicit Scratch(Device &device) : device_(device) {}
  ~Scratch() { (void)device_.free(pointer_); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  Status allocate(size_t bytes) {
    Expected<DevicePtr> pointer = device_.allocate(bytes);
    if (!pointer)
      return pointer.status();
    pointer_ = *pointer;
    return Status::ok();
  }
  DevicePtr pointer() const { return pointer_; }

private:
  Device &device_;
  DevicePtr pointer_ = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

/// Times what `body` puts on the null stream.
template <typename Body>
Expected<double> timeOnce(Timer &timer, Body &&body) {
  if (Status status = timer.start(nullptr); !status.isOk())
    return status;
  if (Status status = body(); !status.isOk())
    return status;
  if (Status status = timer.stop(nullptr); !status.isOk())
    return status;
  return timer.seconds();
}

/// Measures time on a device that has a clock.
class TimedBench {
public:
  TimedBench(LaunchSession &session, const BenchOptions &options,
             BenchResult &result)
      : session_(session), device_(session.device()), options_(options),
        result_(result), flush_(device_) {}

  Status run() {
    Expected<std::unique_ptr<Timer>> timer = device_.createTimer();
    if (!timer)
      return timer.status();
    timer_ = std::move(*timer);
    for (Status (TimedBench::*step)() :
         {&TimedBench::measureMemory, &TimedBench::measureKernel,
          &TimedBench::measureCopy, &TimedBench::measureMatrix})
      if (Status status = (this->*step)(); !status.isOk())
        return status;
    return Status::ok();
  }

private:
  /// What the first launch takes and does not give back.
  Status measureMemory() {
    Expected<size_t> before = device_.freeMemory();
    bool isUnknown =
        !before && before.status().code() == StatusCode::Unsupported;
    if (!before && !isUnknown)
      return before.status();
    if (Status status = session_.launch(); !status.isOk())
      return status;
    if (Status status = device_.synchronize(); !status.isOk())
      return Status::launchFailed(result_.kernelName + ": " + status.message());
    if (!isUnknown) {
      Expected<size_t> after = device_.freeMemory();
      if (!after)
        return after.status();
      result_.extraBytes = session_.plan().workspaceBytes +
                           (*before > *after ? *before - *after : 0);
    }
    return flush_.allocate(kFlushBytes);
  }

  Expected<double> timeCold() {
    Status status = device_.fill(flush_.pointer(), 0, kFlushBytes, nullptr);
    if (!status.isOk())
      return status;
    return timeOnce(*timer_, [&] { return session_.launch(); });
  }

  Status measureKernel() {
    // Also the warm-up.
    double guess = 0;
    for (int i = 0; i < 3; ++i) {
      Expected<double> seconds = timeCold();
      if (!seconds)
        return seconds.status();
      guess = *seconds;
    }
    int64_t runs = options_.runs;
    if (runs <= 0)
      runs = std::clamp(
          static_cast<int64_t>(kTimedSeconds / std::max(guess, 1e-7)), kMinRuns,
          kMaxRuns);
    std::vector<double> times;
    for (int64_t i = 0; i < runs; ++i) {
      Expected<double> seconds = timeCold();
      if (!seconds)
        return seconds.status();
      times.push_back(*seconds);
    }
    result_.runs = runs;
    result_.medianSeconds = median(times);
    result_.minSeconds = *std::min_element(times.begin(), times.end());
    result_.maxSeconds = *std::max_element(times.begin(), times.end());
    return Status::ok();
  }

  /// Half of the flush buffer into the other half.
  Status measureCopy() {
    constexpr size_t kHalf = kFlushBytes / 2;
    std::vector<double> times;
    for (int i = 0; i < 12; ++i) {
      Expected<double> seconds = timeOnce(*timer_, [&] {
        return device_.copy(flush_.pointer() + kHalf, flush_.pointer(), kHalf,
                            nullptr);
      });
      if (!seconds)
        return seconds.status();
      times.push_back(*seconds);
    }
    result_.copyBytesPerSecond = 2.0 * kHalf / median(times);
    return Status::ok();
  }

  Status measureMatrix() {
    if (options_.ceilingTflops > 0) {
      result_.ceilingNote = "given";
      return Status::ok();
    }
    if (options_.artifact.device) {
      result_.ceilingNote = "none is measured for the host";
      return Status::ok();
    }
    bool isDefault = options_.device == "auto" || options_.device == "cuda" ||
                     options_.device == "cuda:0";
    if (!isDefault) {
      result_.ceilingNote = "measured on cuda:0 only";
      return Status::ok();
    }
    static_assert(kMatrixCeilingBytes <= kFlushBytes, "shares that memory");
    auto element = result_.problem.dtype == "f16"
                       ? attn::runtime::ElementType::F16
                       : attn::runtime::ElementType::BF16;
    Expected<double> tflops =
        measureMatrixCeiling(device_, flush_.pointer(), element);
    result_.ceilingTflops = tflops ? *tflops : 0;
    result_.ceilingNote =
        tflops ? "an 8192^3 product by cuBLAS" : tflops.status().message();
    return Status::ok();
  }

  LaunchSession &session_;
  Device &device_;
  const BenchOptions &options_;
  BenchResult &result_;
  Scratch flush_;
  std::unique_ptr<Timer> timer_;
};

Status benchOnEmulator(LaunchSession &session, BenchResult &result) {
  session.opened().resetStatistics();
  if (Status status = session.launch(); !status.isOk())
    return status;
  if (Status status = session.device().synchronize(); !status.isOk())
    return status;
  result.statistics = session.opened().statistics();
  result.extraBytes = session.plan().workspaceBytes;
  return Status::ok();
}

} // namespace

Expected<BenchResult> bench(const BenchOptions &options) {
  Expected<Manifest> manifest = parseManifest(options.artifact.manifest);
  if (!manifest)
    return manifest.status();
  Expected<Tensors> tensors =
      prepareTensors(*manifest, options.artifact.spec, options.tensors);
  if (!tensors)
    return tensors.status();
  EmulatorOptions emulator;
  emulator.checks = false;
  emulator.major = manifest->major;
  emulator.minor = manifest->minor;
  Expected<OpenedDevice> opened =
      openDeviceFor(options.artifact, options.device, emulator);
  if (!opened)
    return opened.status();
  BenchResult result;
  result.deviceKind = opened->kind;
  result.deviceName = opened->device->info().name;
  result.deviceNote = opened->note;
  result.kernelName = manifest->name;
  result.problem = tensors->problem;
  result.ceilingTflops = options.ceilingTflops;
  LaunchSessionOptions sessionOptions;
  sessionOptions.gridLimit = options.gridLimit;
  sessionOptions.scalars = launchScalars(options.artifact.spec);
  Expected<std::unique_ptr<LaunchSession>> session =
      LaunchSession::open(std::move(*opened), options.artifact.manifest,
                          options.artifact.image, *tensors, sessionOptions);
  if (!session)
    return session.status();
  if (Status status = (*session)->poisonOutputs(); !status.isOk())
    return status;
  result.flops = result.problem.flops();
  result.hbmBytes = (*session)->plan().hbmBytes;
  if (result.hbmBytes == 0) // every tensor once
    for (const HostTensor &tensor : tensors->host)
      result.hbmBytes += static_cast<double>(tensor.data.size());
  Status status = (*session)->opened().emulator
                      ? benchOnEmulator(**session, result)
                      : TimedBench(**session, options, result).run();
  if (!status.isOk())
    return status;
  return result;
}

int benchVerb(const BenchOptions &options) {
  return guardVerb(options.timeout, [&] {
    Expected<BenchResult> result = bench(options);
    if (!result)
      return reportError(result.status());
    std::string text = options.json  ? printJson(*result)
                       : options.csv ? printCsv(*result)
                                     : printText(*result);
    return printReport(text);
  });
}

} // namespace attnc
