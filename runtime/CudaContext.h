//===- CudaContext.h - Calls in a GPU's context --------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the thread that calls us has current, and which of its calls a capture
// forbids, is its own business: both are set for a scope and given back.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_CUDACONTEXT_H
#define ATTN_RUNTIME_CUDACONTEXT_H

#include "runtime/CudaDriver.h"

#include <memory>
#include <utility>

namespace attn::runtime::cuda {

/// Makes a context current for a scope, if it is not already. Both calls are
/// allowed while a stream is being captured.
class ContextScope {
public:
  ContextScope(const Driver &driver, CUcontext context) : driver_(driver) {
    CUcontext current = nullptr;
    driver_.ctxGetCurrent(&current);
    if (current == context)
      return;
    result_ = driver_.ctxPushCurrent(context);
    isPushed_ = result_ == CUDA_SUCCESS;
  }
  ~ContextScope() {
    CUcontext popped = nullptr;
    if (isPushed_)
      driver_.ctxPopCurrent(&popped);
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  /// Without success another context is current, where nothing may be done.
  CUresult result() const { return result_; }

private:
  const Driver &driver_;
  CUresult result_ = CUDA_SUCCESS;
  bool isPushed_ = false;
};

/// For a scope, allows this thread what a capture of any thread otherwise
/// forbids all of them, at the price of that capture: to load and to unload, to
/// allocate and to free. None of it touches the stream that is captured.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver) : driver_(driver) {
    isExchanged_ = driver_.exchangeCaptureMode(&mode_) == CUDA_SUCCESS;
  }
  ~RelaxedCapture() {
    if (isExchanged_)
      driver_.exchangeCaptureMode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  const Driver &driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool isExchanged_;
};

/// What kernels, modules and timers share with their device.
struct Gpu {
  const Driver *driver = nullptr;
  CUdevice device = 0;
  int ordinal = 0;
  CUcontext context = nullptr;

  Gpu(const Driver *driver, CUdevice device, int ordinal)
      : driver(driver), device(device), ordinal(ordinal) {}
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;
  ~Gpu() {
    if (!context)
      return;
    RelaxedCapture relaxed(*driver);
    driver->primaryCtxRelease(device);
  }

  /// Runs `call` with the context current.
  template <typename Call>
  Status run(const char *name, Call &&call) const {
    ContextScope scope(*driver, context);
    if (scope.result() != CUDA_SUCCESS)
      return Status::launchFailed(
          driver->describe("cuCtxPushCurrent", scope.result()));
    CUresult result = call();
    if (result != CUDA_SUCCESS)
      return Status::launchFailed(driver->describe(name, result));
    return Status::ok();
  }
  /// The same for a call that would invalidate another stream's capture.
  template <typename Call>
  Status runRelaxed(const char *name, Call &&call) const {
    RelaxedCapture relaxed(*driver);
    return run(name, std::forward<Call>(call));
  }
};

using GpuRef = std::shared_ptr<const Gpu>;

} // namespace attn::runtime::cuda

#endif // ATTN_RUNTIME_CUDACONTEXT_H
