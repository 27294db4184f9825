//===- HostDevice.cpp - This machine as a device of the runtime -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/HostDevice.h"

#include "codegen/Host/HostCode.h"

#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include <sys/mman.h>

using attn::runtime::DevicePtr;
using attn::runtime::Expected;
using attn::runtime::Status;
using attn::runtime::Stream;
using mlir::attn::HostCode;

namespace attnc {

namespace {

class HostKernel : public attn::runtime::Kernel {
public:
  explicit HostKernel(HostCode::PackedFunction function) : function(function) {}

  /// The grid is one block, which computes everything.
  Status launch(const attn::runtime::LaunchConfig &,
                const std::vector<void *> &arguments) override {
    function(arguments.data());
    return Status::ok();
  }

private:
  HostCode::PackedFunction function;
};

class HostModule : public attn::runtime::Module {
public:
  explicit HostModule(std::unique_ptr<HostCode> code) : code(std::move(code)) {}

  Expected<attn::runtime::Kernel *> kernel(const std::string &entry) override {
    auto function = code->lookup(entry);
    if (!function)
      return Status::launchFailed(entry + ": " +
                                  llvm::toString(function.takeError()));
    kernels.push_back(std::make_unique<HostKernel>(*function));
    return kernels.back().get();
  }

private:
  std::unique_ptr<HostCode> code;
  std::vector<std::unique_ptr<HostKernel>> kernels;
};

class HostTimer : public attn::runtime::Timer {
public:
  Status start(Stream) override {
    begin = std::chrono::steady_clock::now();
    return Status::ok();
  }
  Status stop(Stream) override {
    end = std::chrono::steady_clock::now();
    return Status::ok();
  }
  Expected<double> seconds() override {
    return std::chrono::duration<double>(end - begin).count();
  }

private:
  std::chrono::steady_clock::time_point begin, end;
};

void *toPointer(DevicePtr address) { return reinterpret_cast<void *>(address); }

class HostDevice : public attn::runtime::Device {
public:
  HostDevice() {
    deviceInfo.name = llvm::sys::getHostCPUName().str();
    deviceInfo.multiprocessors = 1;
  }

  const attn::runtime::DeviceInfo &info() const override { return deviceInfo; }

  Expected<DevicePtr> allocate(size_t bytes) override {
    // Pages that nobody touches cost nothing, so that tensors may lie as far
    // apart as on a GPU.
    size_t size = std::max<size_t>(bytes, 1);
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return Status::launchFailed("expected " + std::to_string(bytes) +
                                  " bytes of memory, but there are fewer");
    auto address = reinterpret_cast<DevicePtr>(memory);
    sizes[address] = size;
    return address;
  }
  Status free(DevicePtr pointer) override {
    auto it = sizes.find(pointer);
    if (it == sizes.end())
      return Status::ok();
    munmap(toPointer(pointer), it->second);
    sizes.erase(it);
    return Status::ok();
  }
  Status copyToDevice(DevicePtr to, const void *from, size_t bytes) override {
    if (bytes > 0)
      std::memcpy(toPointer(to), from, bytes);
    return Status::ok();
  }
  Status copyToHost(void *to, DevicePtr from, size_t bytes) override {
    if (bytes > 0)
      std::memcpy(to, toPointer(from), bytes);
    return Status::ok();
  }
  Status fill(DevicePtr to, uint8_t value, size_t bytes, Stream) override {
    if (bytes > 0)
      std::memset(toPointer(to), value, bytes);
    return Status::ok();
  }
  Status copy(DevicePtr to, DevicePtr from, size_t bytes, Stream) override {
    if (bytes > 0)
      std::memmove(toPointer(to), toPointer(from), bytes);
    return Status::ok();
  }

  Expected<std::unique_ptr<attn::runtime::Module>>
  load(std::string_view image) override {
    auto code = HostCode::compile(llvm::StringRef(image.data(), image.size()));
    if (!code)
      return Status::launchFailed(llvm::toString(code.takeError()));
    return std::unique_ptr<attn::runtime::Module>(
        std::make_unique<HostModule>(std::move(*code)));
  }

  Expected<attn::runtime::TensorMap>
  encodeTensorMap(const attn::runtime::TensorMapDesc &) override {
    return Status::unsupported("expected a kernel without tensor maps on " +
                               deviceInfo.name);
  }

  Status synchronize() override { return Status::ok(); }

  Expected<std::unique_ptr<attn::runtime::Timer>> createTimer() override {
    return std::unique_ptr<attn::runtime::Timer>(std::make_unique<HostTimer>());
  }

private:
  attn::runtime::DeviceInfo deviceInfo;
  /// Of allocations, by address.
  std::map<DevicePtr, size_t> sizes;
};

} // namespace

std::shared_ptr<attn::runtime::Device> createHostDevice() {
  return std::make_shared<HostDevice>();
}

} // namespace attnc
