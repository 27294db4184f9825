//===- LaunchSession.cpp - A kernel and its tensors on a device -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/LaunchSession.h"

namespace attnc {

using attn::runtime::DevicePtr;
using attn::runtime::Expected;
using attn::runtime::LaunchInputs;
using attn::runtime::LaunchPlan;
using attn::runtime::LoadedKernel;
using attn::runtime::Manifest;
using attn::runtime::OpenedDevice;
using attn::runtime::Status;
using attn::runtime::TensorRole;

LaunchSession::~LaunchSession() {
  if (inputs_.workspace)
    (void)device().free(inputs_.workspace);
}

/// With addresses that are only aligned like those to come.
Status LaunchSession::checkLaunch(const Tensors &tensors) {
  LaunchInputs preview = inputs_;
  for (size_t t = 0; t < tensors.host.size(); ++t)
    preview.tensors.push_back(Placement::preview(
        manifest().tensors[t], tensors.host[t].sizes, tensors.placement[t]));
  Expected<LaunchPlan> plan = kernel_->plan(std::move(preview));
  if (!plan)
    return plan.status();
  plan_ = *plan;
  return Status::ok();
}

/// Elements at one address have one value: random ones get it, those of a file
/// must have it.
static Status shareElements(const Placement &placement, HostTensor &tensor) {
  std::vector<uint8_t> before;
  if (tensor.isGiven)
    before = tensor.data;
  Status status = placement.gather(tensor);
  if (!status.isOk() || !tensor.isGiven || before == tensor.data)
    return status;
  return Status::invalidArgument("--in: expected the same values in all "
                                 "elements of " +
                                 tensor.name +
                                 " that share an address, but got others");
}

Status LaunchSession::place(Tensors &tensors) {
  for (size_t t = 0; t < tensors.host.size(); ++t) {
    PlacementOptions options = tensors.placement[t];
    options.hasGuards = opened_.emulator == nullptr;
    Expected<Placement> placement = Placement::create(
        device(), manifest().tensors[t], tensors.host[t].sizes, options);
    if (!placement)
      return placement.status();
    placements_.push_back(std::move(*placement));
    if (manifest().tensors[t].role == TensorRole::Output)
      continue;
    Status status = placements_.back().scatter(tensors.host[t]);
    if (status.isOk() && placements_.back().hasSharedElements())
      status = shareElements(placements_.back(), tensors.host[t]);
    if (!status.isOk())
      return status;
  }
  for (const Placement &placement : placements_)
    inputs_.tensors.push_back(placement.view());
  if (plan_.workspaceBytes > 0) {
    Expected<DevicePtr> workspace = device().allocate(plan_.workspaceBytes);
    if (!workspace)
      return workspace.status();
    inputs_.workspace = *workspace;
    inputs_.workspaceBytes = plan_.workspaceBytes;
  }
  return Status::ok();
}

Expected<std::unique_ptr<LaunchSession>>
LaunchSession::open(OpenedDevice opened, const std::string &manifestText,
                    std::string_view image, Tensors &tensors,
                    const LaunchSessionOptions &options) {
  Expected<Manifest> manifest = attn::runtime::parseManifest(manifestText);
  if (!manifest)
    return manifest.status();
  std::unique_ptr<LaunchSession> session(new LaunchSession());
  session->opened_ = std::move(opened);
  Expected<std::unique_ptr<LoadedKernel>> kernel =
      LoadedKernel::load(session->opened_.device, std::move(*manifest), image);
  if (!kernel)
    return kernel.status();
  session->kernel_ = std::move(*kernel);
  session->inputs_.gridLimit = options.gridLimit;
  for (const auto &scalar : session->manifest().scalars)
    if (auto it = options.scalars.find(scalar.name);
        it != options.scalars.end())
      session->inputs_.scalars.push_back({scalar.name, it->second});
  if (Status status = session->checkLaunch(tensors); !status.isOk())
    return status;
  if (Status status = session->place(tensors); !status.isOk())
    return status;
  return session;
}

Status LaunchSession::poisonOutputs() {
  if (inputs_.workspace)
    if (Status status = device().fill(inputs_.workspace, 0xff,
                                      inputs_.workspaceBytes, nullptr);
        !status.isOk())
      return status;
  for (size_t t = 0; t < placements_.size(); ++t)
    if (manifest().tensors[t].role == TensorRole::Output)
      if (Status status = placements_[t].poison(); !status.isOk())
        return status;
  return Status::ok();
}

Status LaunchSession::launch() { return kernel_->launch(inputs_, nullptr); }

Status LaunchSession::gatherOutputs(Tensors &tensors) const {
  for (size_t t = 0; t < placements_.size(); ++t)
    if (manifest().tensors[t].role == TensorRole::Output)
      if (Status status = placements_[t].gather(tensors.host[t]);
          !status.isOk())
        return status;
  return Status::ok();
}

std::vector<TensorTraffic>
LaunchSession::traffic(const Tensors &tensors) const {
  std::vector<TensorTraffic> result;
  if (!opened_.emulator)
    return result;
  const auto &allocations = opened_.emulator->statistics().allocations;
  for (size_t t = 0; t < placements_.size(); ++t) {
    TensorTraffic traffic;
    traffic.name = manifest().tensors[t].name;
    traffic.tensorBytes = tensors.host[t].data.size();
    if (auto it = allocations.find(placements_[t].allocation());
        it != allocations.end()) {
      traffic.readBytes = it->second.readBytes;
      traffic.writtenBytes = it->second.writtenBytes;
    }
    result.push_back(traffic);
  }
  return result;
}

Status LaunchSession::checkGuards() const {
  for (size_t t = 0; t < placements_.size(); ++t) {
    Expected<std::optional<int64_t>> damage = placements_[t].findDamage();
    if (!damage)
      return damage.status();
    if (*damage)
      return Status::launchFailed(
          manifest().tensors[t].name +
          ": expected no write outside the tensor, but got one " +
          std::to_string(**damage) + " bytes from its start");
  }
  return Status::ok();
}

} // namespace attnc
