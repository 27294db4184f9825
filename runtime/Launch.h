//===- Launch.h - A kernel ready to run ----------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_LAUNCH_H
#define ATTN_RUNTIME_LAUNCH_H

#include "runtime/Arguments.h"

#include <memory>
#include <string>
#include <string_view>

namespace attn::runtime {

/// What a launch would do.
struct LaunchPlan {
  uint64_t workspaceBytes = 0;
  uint64_t blocks = 0;
  /// By the manifest's formulas; 0 where it has none.
  double flops = 0, hbmBytes = 0;
};

/// A manifest and its module, loaded on a device. Launching changes nothing in
/// it, so any number of threads may.
class LoadedKernel {
public:
  /// `image` is the PTX or the cubin that the manifest describes.
  static Expected<std::unique_ptr<LoadedKernel>>
  load(std::shared_ptr<Device> device, Manifest manifest,
       std::string_view image);

  /// Reads NAME.json and its image.
  static Expected<std::unique_ptr<LoadedKernel>>
  loadFile(std::shared_ptr<Device> device, const std::string &manifestPath);

  const Manifest &manifest() const { return manifest_; }
  Device &device() const { return *device_; }

  /// Checks as launch does; a missing workspace is no error here.
  Expected<LaunchPlan> plan(LaunchInputs inputs) const;

  /// Whether the device may follow these addresses and run on this stream; a
  /// part of what launch checks, and none of what plan does.
  Status checkAccess(const LaunchInputs &inputs, Stream stream) const;

  /// Checks everything, then launches and returns without waiting.
  Status launch(const LaunchInputs &inputs, Stream stream) const;

private:
  LoadedKernel(std::shared_ptr<Device> device, Manifest manifest)
      : device_(std::move(device)), manifest_(std::move(manifest)) {}

  Status launchOne(size_t index, BoundKernel &bound, Stream stream) const;

  // In this order, so that the module is unloaded before its device goes.
  std::shared_ptr<Device> device_;
  Manifest manifest_;
  std::unique_ptr<Module> module_;
  std::vector<Kernel *> kernels_;
};

/// The whole content of a file.
Expected<std::string> readFile(const std::string &path);

/// What the manifest names beside itself: the cubin, if any, else the PTX.
Expected<std::string> readImage(const std::string &manifestPath,
                                const Manifest &manifest);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LAUNCH_H
