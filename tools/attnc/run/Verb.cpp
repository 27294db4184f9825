//===- Verb.cpp - What the verbs that run kernels share -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Verb.h"

#include "tools/attnc/run/OutputFiles.h"
#include "tools/attnc/run/Text.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

namespace attnc {

using attn::runtime::Status;

int reportError(const Status &status) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return static_cast<int>(status.code());
}

int printReport(const std::string &text) {
  Status status = writeStandardOutput(text);
  // Behind a launch this is no mistake in what was asked for.
  return status.isOk() ? 0
                       : reportError(Status::launchFailed(status.message()));
}

namespace {

/// Ends the process unless it is destroyed in time.
class Watchdog {
public:
  explicit Watchdog(double seconds) {
    if (seconds > 0)
      thread_ = std::thread([this, seconds] { watch(seconds); });
  }
  ~Watchdog() {
    if (!thread_.joinable())
      return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      isDone_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

private:
  void watch(double seconds) {
    std::unique_lock<std::mutex> lock(mutex_);
    // Later than this the clock overflows.
    auto limit = std::chrono::duration<double>(std::min(seconds, 1e9));
    if (wake_.wait_for(lock, limit, [this] { return isDone_; }))
      return;
    std::string message =
        format("error: expected an end within %g s, but the kernel is still "
               "running\n",
               seconds);
    std::fputs(message.c_str(), stderr);
    std::fflush(nullptr);
    std::_Exit(static_cast<int>(attn::runtime::StatusCode::LaunchFailed));
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool isDone_ = false;
  std::thread thread_;
};

} // namespace

int guardVerb(double timeout, const std::function<int()> &body) {
  try {
    Watchdog watchdog(timeout);
    return body();
  } catch (const std::bad_alloc &) {
    return reportError(Status::launchFailed(
        "expected tensors that fit into memory, but got larger ones"));
  } catch (const std::exception &e) {
    return reportError(Status::launchFailed(e.what()));
  }
}

} // namespace attnc
