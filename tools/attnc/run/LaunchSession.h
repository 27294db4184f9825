//===- LaunchSession.h - A kernel and its tensors on a device - -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_LAUNCHSESSION_H
#define ATTN_TOOLS_ATTNC_RUN_LAUNCHSESSION_H

#include "runtime/Launch.h"
#include "runtime/OpenDevice.h"
#include "tools/attnc/run/Tensors.h"

namespace attnc {

/// Bytes that the emulator saw move between a tensor and the kernel.
struct TensorTraffic {
  std::string name;
  uint64_t tensorBytes = 0, readBytes = 0, writtenBytes = 0;
};

struct LaunchSessionOptions {
  uint32_t gridLimit = 0;
  std::map<std::string, double> scalars;
};

/// Everything that stands on a device for one problem.
class LaunchSession {
public:
  /// Checks the launch before it allocates anything. Where strides make the
  /// elements of an input share addresses, `tensors` comes back with what the
  /// device then holds.
  static attn::runtime::Expected<std::unique_ptr<LaunchSession>>
  open(attn::runtime::OpenedDevice opened, const std::string &manifest,
       std::string_view image, Tensors &tensors,
       const LaunchSessionOptions &options);
  ~LaunchSession();
  LaunchSession(const LaunchSession &) = delete;
  LaunchSession &operator=(const LaunchSession &) = delete;

  const attn::runtime::OpenedDevice &opened() const { return opened_; }
  attn::runtime::Device &device() const { return *opened_.device; }
  const attn::runtime::Manifest &manifest() const {
    return kernel_->manifest();
  }
  const attn::runtime::LaunchPlan &plan() const { return plan_; }

  attn::runtime::Status poisonOutputs();
  /// Launches and does not wait.
  attn::runtime::Status launch();
  attn::runtime::Status gatherOutputs(Tensors &tensors) const;
  /// LaunchFailed where something outside the tensors was written.
  attn::runtime::Status checkGuards() const;

  /// Of every tensor, since the emulator's last reset; empty for a GPU.
  std::vector<TensorTraffic> traffic(const Tensors &tensors) const;

private:
  LaunchSession() = default;
  attn::runtime::Status checkLaunch(const Tensors &tensors);
  attn::runtime::Status place(Tensors &tensors);

  attn::runtime::OpenedDevice opened_;
  std::unique_ptr<attn::runtime::LoadedKernel> kernel_;
  std::vector<Placement> placements_;
  attn::runtime::LaunchInputs inputs_;
  attn::runtime::LaunchPlan plan_;
};

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_LAUNCHSESSION_H
