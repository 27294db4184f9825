//===- CApi.cpp - C interface of the runtime ------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Launch.h"
#include "runtime/OpenDevice.h"
#include "runtime/attn.h"

#include <cstring>
#include <new>

using namespace attn::runtime;

struct attn_device {
  OpenedDevice opened;
};

struct attn_kernel {
  std::unique_ptr<LoadedKernel> loaded;
};

static thread_local std::string lastError;

static attn_status report(const Status &status) {
  if (!status.isOk())
    lastError = status.message();
  return static_cast<attn_status>(status.code());
}

static attn_status reject(const char *message) {
  return report(Status::invalidArgument(message));
}

/// Runs the body of an entry point. Nothing below throws by itself, but memory
/// may run out, and no exception may leave.
template <typename Body>
static attn_status guarded(Body &&body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    // No message: it might need memory too.
    lastError.clear();
    return ATTN_LAUNCH_FAILED;
  } catch (const std::exception &e) {
    return report(Status::launchFailed(e.what()));
  }
}

static Status convertTensor(const attn_tensor &from, TensorView &to) {
  if (!from.name)
    return Status::invalidArgument("tensors: expected a name, but got null");
  to.name = from.name;
  to.data = from.data;
  to.rank = from.rank;
  if (from.rank < 0 || from.rank > kMaxRank)
    return Status::invalidArgument(
        std::string(from.name) + ": expected a rank in [0, " +
        std::to_string(kMaxRank) + "], but got " + std::to_string(from.rank));
  if (from.rank > 0 && (!from.sizes || !from.strides))
    return Status::invalidArgument(
        std::string(from.name) + ": expected sizes and strides, but got null");
  for (int32_t d = 0; d < from.rank; ++d) {
    to.sizes[d] = from.sizes[d];
    to.strides[d] = from.strides[d];
  }
  return Status::ok();
}

static Status convertLaunch(const attn_launch *from, LaunchInputs &to) {
  if (!from)
    return Status::invalidArgument("launch: expected a pointer, but got null");
  if (from->struct_size != sizeof(attn_launch))
    return Status::invalidArgument(
        "launch.struct_size: expected " + std::to_string(sizeof(attn_launch)) +
        ", but got " + std::to_string(from->struct_size));
  if (from->num_tensors < 0 || from->num_scalars < 0 ||
      (from->num_tensors > 0 && !from->tensors) ||
      (from->num_scalars > 0 && !from->scalars))
    return Status::invalidArgument(
        "launch: expected lists of at least 0 elements, but got a negative "
        "count or null");
  to.tensors.resize(from->num_tensors);
  for (int32_t i = 0; i < from->num_tensors; ++i)
    if (Status status = convertTensor(from->tensors[i], to.tensors[i]);
        !status.isOk())
      return status;
  for (int32_t i = 0; i < from->num_scalars; ++i) {
    if (!from->scalars[i].name)
      return Status::invalidArgument("scalars: expected a name, but got null");
    to.scalars.push_back({from->scalars[i].name, from->scalars[i].value});
  }
  to.workspace = from->workspace;
  to.workspaceBytes = from->workspace_bytes;
  to.gridLimit = from->grid_limit;
  return Status::ok();
}

static attn_status makeKernel(Expected<std::unique_ptr<LoadedKernel>> loaded,
                              attn_kernel **kernel) {
  if (!loaded)
    return report(loaded.status());
  *kernel = new attn_kernel{std::move(*loaded)};
  return ATTN_OK;
}

extern "C" {

int32_t attn_api_version(void) { return ATTN_API_VERSION; }

const char *attn_last_error(void) { return lastError.c_str(); }

attn_status attn_device_open(const char *name, attn_device **device) {
  return guarded([&] {
    if (!name || !device)
      return reject("attn_device_open: expected pointers, but got null");
    Expected<OpenedDevice> opened = openDevice(name);
    if (!opened)
      return report(opened.status());
    *device = new attn_device{std::move(*opened)};
    return ATTN_OK;
  });
}

void attn_device_close(attn_device *device) { delete device; }

const char *attn_device_kind(const attn_device *device) {
  return device ? device->opened.kind.c_str() : "";
}

const char *attn_device_name(const attn_device *device) {
  return device ? device->opened.device->info().name.c_str() : "";
}

attn_status attn_device_allocate(attn_device *device, size_t bytes,
                                 uint64_t *pointer) {
  return guarded([&] {
    if (!device || !pointer)
      return reject("attn_device_allocate: expected pointers, but got null");
    Expected<DevicePtr> result = device->opened.device->allocate(bytes);
    if (!result)
      return report(result.status());
    *pointer = *result;
    return ATTN_OK;
  });
}

attn_status attn_device_free(attn_device *device, uint64_t pointer) {
  return guarded([&] {
    if (!device)
      return reject("attn_device_free: expected a device, but got null");
    return report(device->opened.device->free(pointer));
  });
}

attn_status attn_device_copy_in(attn_device *device, uint64_t to,
                                const void *from, size_t bytes) {
  return guarded([&] {
    if (!device || (!from && bytes > 0))
      return reject("attn_device_copy_in: expected pointers, but got null");
    return report(device->opened.device->copyToDevice(to, from, bytes));
  });
}

attn_status attn_device_copy_out(attn_device *device, void *to, uint64_t from,
                                 size_t bytes) {
  return guarded([&] {
    if (!device || (!to && bytes > 0))
      return reject("attn_device_copy_out: expected pointers, but got null");
    return report(device->opened.device->copyToHost(to, from, bytes));
  });
}

attn_status attn_device_synchronize(attn_device *device) {
  return guarded([&] {
    if (!device)
      return reject("attn_device_synchronize: expected a device, but got null");
    return report(device->opened.device->synchronize());
  });
}

attn_status attn_kernel_load(attn_device *device, const char *manifest_path,
                             attn_kernel **kernel) {
  return guarded([&] {
    if (!device || !manifest_path || !kernel)
      return reject("attn_kernel_load: expected pointers, but got null");
    return makeKernel(
        LoadedKernel::loadFile(device->opened.device, manifest_path), kernel);
  });
}

attn_status attn_kernel_load_memory(attn_device *device, const char *manifest,
                                    size_t manifest_size, const void *image,
                                    size_t image_size, attn_kernel **kernel) {
  return guarded([&] {
    if (!device || !manifest || !image || !kernel)
      return reject("attn_kernel_load_memory: expected pointers, but got null");
    Expected<Manifest> parsed =
        parseManifest(std::string_view(manifest, manifest_size));
    if (!parsed)
      return report(parsed.status());
    return makeKernel(
        LoadedKernel::load(
            device->opened.device, std::move(*parsed),
            std::string_view(static_cast<const char *>(image), image_size)),
        kernel);
  });
}

void attn_kernel_close(attn_kernel *kernel) { delete kernel; }

const char *attn_kernel_manifest(const attn_kernel *kernel) {
  return kernel ? kernel->loaded->manifest().text.c_str() : "";
}

const char *attn_kernel_name(const attn_kernel *kernel) {
  return kernel ? kernel->loaded->manifest().name.c_str() : "";
}

attn_status attn_kernel_plan(const attn_kernel *kernel,
                             const attn_launch *launch, attn_plan *plan) {
  return guarded([&] {
    if (!kernel)
      return reject("attn_kernel_plan: expected a kernel, but got null");
    LaunchInputs inputs;
    if (Status status = convertLaunch(launch, inputs); !status.isOk())
      return report(status);
    Expected<LaunchPlan> result = kernel->loaded->plan(inputs);
    if (!result)
      return report(result.status());
    if (Status status = kernel->loaded->checkAccess(inputs, launch->stream);
        !status.isOk())
      return report(status);
    if (plan)
      *plan = {result->workspaceBytes, result->blocks, result->flops,
               result->hbmBytes};
    return ATTN_OK;
  });
}

attn_status attn_kernel_launch(const attn_kernel *kernel,
                               const attn_launch *launch) {
  return guarded([&] {
    if (!kernel)
      return reject("attn_kernel_launch: expected a kernel, but got null");
    LaunchInputs inputs;
    if (Status status = convertLaunch(launch, inputs); !status.isOk())
      return report(status);
    return report(kernel->loaded->launch(inputs, launch->stream));
  });
}

} // extern "C"
