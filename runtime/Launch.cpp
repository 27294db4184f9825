//===- Launch.cpp - A kernel ready to run ---------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Launch.h"

#include "runtime/Sha256.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace attn::runtime {

Expected<std::string> readFile(const std::string &path) {
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"),
                                              &std::fclose);
  if (!file)
    return Status::invalidArgument(path +
                                   ": expected a readable file, but got "
                                   "'" +
                                   std::strerror(errno) + "'");
  std::string content;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, file.get()))
    content.append(buffer, count);
  if (std::ferror(file.get()))
    return Status::invalidArgument(path +
                                   ": expected a readable file, but got "
                                   "'" +
                                   std::strerror(errno) + "'");
  return content;
}

/// A cubin is an ELF file; PTX is text.
static bool isCubin(std::string_view image) {
  return image.substr(0, 4) == "\x7f"
                               "ELF";
}

/// A manifest and an image may both be fine and yet of two builds, between
/// which grids, tiles and parameters differ under one name.
static Status checkDigest(const Manifest &manifest, std::string_view image) {
  if (manifest.target == "host")
    return Status::ok(); // compiled in this process, never a file
  bool isBinary = isCubin(image);
  const std::string &file = isBinary ? manifest.cubinFile : manifest.ptxFile;
  const std::string &want =
      isBinary ? manifest.cubinDigest : manifest.ptxDigest;
  if (want.empty())
    return Status::invalidArgument(
        manifest.name + ": expected the " + (isBinary ? "PTX" : "cubin") +
        " that the manifest names, but got a " + (isBinary ? "cubin" : "PTX"));
  std::string got = sha256(image);
  if (got == want)
    return Status::ok();
  return Status::invalidArgument(
      file +
      ": expected the file that the manifest was written with, of "
      "SHA-256 " +
      want + ", but got one of " + got);
}

Expected<std::unique_ptr<LoadedKernel>>
LoadedKernel::load(std::shared_ptr<Device> device, Manifest manifest,
                   std::string_view image) {
  if (Status status = checkDigest(manifest, image); !status.isOk())
    return status;
  if (Status status = checkDevice(manifest, device->info(), isCubin(image));
      !status.isOk())
    return status;
  std::unique_ptr<LoadedKernel> loaded(
      new LoadedKernel(std::move(device), std::move(manifest)));
  Expected<std::unique_ptr<Module>> module = loaded->device_->load(image);
  if (!module)
    return module.status();
  loaded->module_ = std::move(*module);
  for (const KernelSpec &spec : loaded->manifest_.kernels) {
    Expected<Kernel *> kernel = loaded->module_->kernel(spec.entry);
    if (!kernel)
      return kernel.status();
    loaded->kernels_.push_back(*kernel);
  }
  return loaded;
}

Expected<std::string> readImage(const std::string &manifestPath,
                                const Manifest &manifest) {
  const std::string &file =
      manifest.cubinFile.empty() ? manifest.ptxFile : manifest.cubinFile;
  if (file.empty())
    return Status::invalidArgument(
        manifestPath + ": expected files.ptx or files.cubin, but got neither");
  size_t slash = manifestPath.rfind('/');
  std::string folder =
      slash == std::string::npos ? "" : manifestPath.substr(0, slash + 1);
  return readFile(folder + file);
}

Expected<std::unique_ptr<LoadedKernel>>
LoadedKernel::loadFile(std::shared_ptr<Device> device,
                       const std::string &manifestPath) {
  Expected<std::string> text = readFile(manifestPath);
  if (!text)
    return text.status();
  Expected<Manifest> manifest = parseManifest(*text);
  if (!manifest)
    return manifest.status();
  Expected<std::string> image = readImage(manifestPath, *manifest);
  if (!image)
    return image.status();
  return load(std::move(device), std::move(*manifest), *image);
}

Expected<LaunchPlan> LoadedKernel::plan(LaunchInputs inputs) const {
  inputs.workspace = inputs.workspace ? inputs.workspace : 256;
  inputs.workspaceBytes = UINT64_MAX;
  Expected<BoundLaunch> bound = bindLaunch(manifest_, device_->info(), inputs);
  if (!bound)
    return bound.status();
  LaunchPlan plan;
  plan.workspaceBytes = bound->workspaceBytes;
  for (const BoundKernel &kernel : bound->kernels)
    plan.blocks += uint64_t(kernel.grid.x) * kernel.grid.y * kernel.grid.z;
  for (auto [formula, result] :
       {std::make_pair(&manifest_.flops, &plan.flops),
        std::make_pair(&manifest_.hbmBytes, &plan.hbmBytes)}) {
    if (!*formula)
      continue;
    // A cost only informs: one that 64 bits cannot count stays 0, unknown.
    Expected<Value> value = (*formula)->evaluate(bound->environment);
    if (value)
      *result = value->asReal();
  }
  return plan;
}

Status LoadedKernel::launchOne(size_t index, BoundKernel &bound,
                               Stream stream) const {
  std::vector<TensorMap> maps;
  maps.reserve(bound.arguments.size()); // their addresses must stay
  std::vector<void *> arguments;
  arguments.reserve(bound.arguments.size());
  for (ArgumentValue &value : bound.arguments) {
    if (const auto *desc = std::get_if<TensorMapDesc>(&value)) {
      Expected<TensorMap> map = device_->encodeTensorMap(*desc);
      if (!map)
        return map.status();
      maps.push_back(*map);
      arguments.push_back(&maps.back());
      continue;
    }
    arguments.push_back(
        std::visit([](auto &held) -> void * { return &held; }, value));
  }
  const KernelSpec &spec = manifest_.kernels[index];
  LaunchConfig config;
  config.grid = bound.grid;
  config.block = spec.block;
  config.dynamicSharedBytes = spec.dynamicSharedBytes;
  config.stream = stream;
  return kernels_[index]->launch(config, arguments);
}

Status LoadedKernel::checkAccess(const LaunchInputs &inputs,
                                 Stream stream) const {
  std::vector<NamedAddress> addresses;
  addresses.reserve(inputs.tensors.size() + 1);
  for (const TensorView &tensor : inputs.tensors)
    if (!tensor.isEmpty())
      addresses.push_back({tensor.name, tensor.data});
  if (inputs.workspace)
    addresses.push_back({"workspace", inputs.workspace});
  return device_->checkAccess(addresses, stream);
}

Status LoadedKernel::launch(const LaunchInputs &inputs, Stream stream) const {
  Expected<BoundLaunch> bound = bindLaunch(manifest_, device_->info(), inputs);
  if (!bound)
    return bound.status();
  if (Status status = checkAccess(inputs, stream); !status.isOk())
    return status;
  if (manifest_.workspaceZeroed && bound->workspaceBytes > 0)
    if (Status status =
            device_->fill(inputs.workspace, 0, bound->workspaceBytes, stream);
        !status.isOk())
      return status;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (bound->kernels[i].isEmpty)
      continue;
    if (Status status = launchOne(i, bound->kernels[i], stream); !status.isOk())
      return status;
  }
  return Status::ok();
}

} // namespace attn::runtime
