//===- CudaDevice.cpp - A GPU through the CUDA driver ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/CudaDevice.h"

#include "runtime/CudaContext.h"

#include <atomic>
#include <cstdio>

namespace attn::runtime {

using namespace cuda;

namespace {

class CudaKernel : public Kernel {
public:
  /// `isCaptured` becomes true once a graph has this kernel.
  CudaKernel(GpuRef gpu, CUfunction function, std::string entry,
             std::atomic<bool> &isCaptured)
      : gpu_(std::move(gpu)), function_(function), entry_(std::move(entry)),
        isCaptured_(isCaptured) {}

  Status launch(const LaunchConfig &config,
                const std::vector<void *> &arguments) override {
    const Dim3 &grid = config.grid, &block = config.block;
    auto stream = static_cast<CUstream>(config.stream);
    Status status = gpu_->run("cuLaunchKernel", [&] {
      noteCapture(stream);
      return gpu_->driver->launchKernel(
          function_, grid.x, grid.y, grid.z, block.x, block.y, block.z,
          config.dynamicSharedBytes, stream,
          const_cast<void **>(arguments.data()), nullptr);
    });
    if (status.isOk())
      return status;
    return Status::launchFailed(
        entry_ + ": " + status.message() + " for a grid of " +
        std::to_string(grid.x) + "x" + std::to_string(grid.y) + "x" +
        std::to_string(grid.z) + ", " +
        std::to_string(block.x * block.y * block.z) + " threads and " +
        std::to_string(config.dynamicSharedBytes) + " bytes of shared memory");
  }

private:
  void noteCapture(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream && !isCaptured_ &&
        gpu_->driver->streamIsCapturing(stream, &status) == CUDA_SUCCESS &&
        status != CU_STREAM_CAPTURE_STATUS_NONE)
      isCaptured_ = true;
  }

  GpuRef gpu_;
  CUfunction function_;
  std::string entry_;
  std::atomic<bool> &isCaptured_;
};

class CudaModule : public Module {
public:
  CudaModule(GpuRef gpu, CUmodule module, size_t maxSharedBytes)
      : gpu_(std::move(gpu)), module_(module), maxSharedBytes_(maxSharedBytes) {
  }
  ~CudaModule() override {
    // A graph may be launched at any time from now on, and would then jump into
    // memory that is gone; so its code stays for as long as the context.
    if (isCaptured_)
      return;
    (void)gpu_->runRelaxed("cuModuleUnload",
                           [&] { return gpu_->driver->moduleUnload(module_); });
  }

  /// Also does here, once, what a launch must not do: the function is loaded
  /// to the GPU and allowed all the shared memory that there is.
  Expected<Kernel *> kernel(const std::string &entry) override {
    const Driver &driver = *gpu_->driver;
    RelaxedCapture relaxed(driver);
    CUfunction function = nullptr;
    Status status = gpu_->run("cuModuleGetFunction", [&] {
      return driver.moduleGetFunction(&function, module_, entry.c_str());
    });
    int staticBytes = 0;
    if (status.isOk())
      status = gpu_->run("cuFuncGetAttribute", [&] {
        return driver.funcGetAttribute(
            &staticBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
      });
    if (status.isOk())
      status = gpu_->run("cuFuncSetAttribute", [&] {
        return driver.funcSetAttribute(
            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            static_cast<int>(maxSharedBytes_) - staticBytes);
      });
    if (!status.isOk())
      return Status::launchFailed(entry + ": " + status.message());
    kernels_.push_back(
        std::make_unique<CudaKernel>(gpu_, function, entry, isCaptured_));
    return kernels_.back().get();
  }

private:
  GpuRef gpu_;
  CUmodule module_;
  size_t maxSharedBytes_;
  std::atomic<bool> isCaptured_{false};
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

class CudaTimer : public Timer {
public:
  explicit CudaTimer(GpuRef gpu) : gpu_(std::move(gpu)) {}
  ~CudaTimer() override {
    for (CUevent event : {start_, stop_})
      if (event)
        (void)gpu_->runRelaxed("cuEventDestroy", [&] {
          return gpu_->driver->eventDestroy(event);
        });
  }

  Status create() {
    for (CUevent *event : {&start_, &stop_})
      if (Status status = gpu_->runRelaxed(
              "cuEventCreate",
              [&] { return gpu_->driver->eventCreate(event, 0); });
          !status.isOk())
        return status;
    return Status::ok();
  }

  Status start(Stream stream) override { return record(start_, stream); }
  Status stop(Stream stream) override { return record(stop_, stream); }

  Expected<double> seconds() override {
    float milliseconds = 0;
    Status status = gpu_->run("cuEventSynchronize", [&] {
      return gpu_->driver->eventSynchronize(stop_);
    });
    if (status.isOk())
      status = gpu_->run("cuEventElapsedTime", [&] {
        return gpu_->driver->eventElapsedTime(&milliseconds, start_, stop_);
      });
    if (!status.isOk())
      return status;
    return milliseconds / 1e3;
  }

private:
  Status record(CUevent event, Stream stream) {
    return gpu_->run("cuEventRecord", [&] {
      return gpu_->driver->eventRecord(event, static_cast<CUstream>(stream));
    });
  }

  GpuRef gpu_;
  CUevent start_ = nullptr, stop_ = nullptr;
};

class CudaDevice : public Device {
public:
  CudaDevice(GpuRef gpu, DeviceInfo info, bool takesPageable)
      : gpu_(std::move(gpu)), info_(std::move(info)),
        takesPageable_(takesPageable) {}

  const DeviceInfo &info() const override { return info_; }

  Expected<DevicePtr> allocate(size_t bytes) override {
    CUdeviceptr pointer = 0;
    if (bytes == 0)
      return DevicePtr(0);
    Status status = gpu_->runRelaxed(
        "cuMemAlloc", [&] { return gpu_->driver->memAlloc(&pointer, bytes); });
    if (!status.isOk())
      return Status::launchFailed(status.message() + " for " +
                                  std::to_string(bytes) + " bytes");
    return DevicePtr(pointer);
  }
  Status free(DevicePtr pointer) override {
    if (pointer == 0)
      return Status::ok();
    return gpu_->runRelaxed("cuMemFree",
                            [&] { return gpu_->driver->memFree(pointer); });
  }
  Status copyToDevice(DevicePtr to, const void *from, size_t bytes) override {
    return gpu_->run("cuMemcpyHtoD",
                     [&] { return gpu_->driver->memcpyHtoD(to, from, bytes); });
  }
  Status copyToHost(void *to, DevicePtr from, size_t bytes) override {
    return gpu_->run("cuMemcpyDtoH",
                     [&] { return gpu_->driver->memcpyDtoH(to, from, bytes); });
  }

  Expected<std::unique_ptr<Module>> load(std::string_view image) override;
  Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc) override;
  Status checkAccess(const std::vector<NamedAddress> &addresses,
                     Stream stream) override;

  Status synchronize() override {
    return gpu_->run("cuCtxSynchronize",
                     [&] { return gpu_->driver->ctxSynchronize(); });
  }

  Expected<std::unique_ptr<Timer>> createTimer() override {
    auto timer = std::make_unique<CudaTimer>(gpu_);
    if (Status status = timer->create(); !status.isOk())
      return status;
    return std::unique_ptr<Timer>(std::move(timer));
  }
  Expected<size_t> freeMemory() override {
    size_t free = 0, total = 0;
    Status status = gpu_->run("cuMemGetInfo", [&] {
      return gpu_->driver->memGetInfo(&free, &total);
    });
    if (!status.isOk())
      return status;
    return free;
  }
  Status fill(DevicePtr to, uint8_t value, size_t bytes,
              Stream stream) override {
    return gpu_->run("cuMemsetD8Async", [&] {
      return gpu_->driver->memsetD8Async(to, value, bytes,
                                         static_cast<CUstream>(stream));
    });
  }
  Status copy(DevicePtr to, DevicePtr from, size_t bytes,
              Stream stream) override {
    return gpu_->run("cuMemcpyDtoDAsync", [&] {
      return gpu_->driver->memcpyDtoDAsync(to, from, bytes,
                                           static_cast<CUstream>(stream));
    });
  }

private:
  Status checkAddress(const NamedAddress &address) const;
  Status checkStream(CUstream stream) const;

  GpuRef gpu_;
  DeviceInfo info_;
  /// Kernels can read memory of the host that CUDA has not allocated.
  bool takesPageable_;
};

} // namespace

Expected<std::unique_ptr<Module>> CudaDevice::load(std::string_view image) {
  // The driver tells PTX from a cubin by its first bytes; PTX must end in NUL,
  // which std::string adds.
  std::string data(image);
  std::vector<char> log(16384);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  CUmodule module = nullptr;
  Status status = gpu_->runRelaxed("cuModuleLoadDataEx", [&] {
    return gpu_->driver->moduleLoadDataEx(&module, data.c_str(), 2, options,
                                          values);
  });
  if (!status.isOk()) {
    std::string message = status.message();
    if (log[0] != '\0')
      message += ": " + std::string(log.data());
    return Status::launchFailed(message);
  }
  return std::unique_ptr<Module>(
      std::make_unique<CudaModule>(gpu_, module, info_.maxSharedBytes));
}

static CUtensorMapDataType toDriver(ElementType element) {
  switch (element) {
  case ElementType::F16:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  case ElementType::BF16:
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  case ElementType::F32:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  case ElementType::I32:
    return CU_TENSOR_MAP_DATA_TYPE_INT32;
  case ElementType::U8:
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  case ElementType::F64:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

static std::string describe(const TensorMapDesc &desc) {
  std::string text = "dims";
  for (int i = 0; i < desc.rank; ++i)
    text += " " + std::to_string(desc.dims[i]);
  text += ", byte strides";
  for (int i = 0; i + 1 < desc.rank; ++i)
    text += " " + std::to_string(desc.strides[i]);
  text += ", box";
  for (int i = 0; i < desc.rank; ++i)
    text += " " + std::to_string(desc.box[i]);
  return text;
}

Expected<TensorMap> CudaDevice::encodeTensorMap(const TensorMapDesc &desc) {
  const Driver &driver = *gpu_->driver;
  if (!driver.tensorMapEncodeTiled)
    return Status::unsupported("expected a driver with cuTensorMapEncodeTiled "
                               "(12.0 or later), but got one without");
  static_assert(int(TensorMapSwizzle::B32) == 1 &&
                    int(TensorMapSwizzle::B128) == 3,
                "the values are the driver's");
  // Pure arithmetic, yet the driver wants a context.
  ContextScope scope(driver, gpu_->context);
  TensorMap map;
  const uint32_t elementStrides[5] = {1, 1, 1, 1, 1};
  CUresult result = driver.tensorMapEncodeTiled(
      map.bytes.data(), toDriver(desc.element), desc.rank,
      reinterpret_cast<void *>(desc.base), desc.dims.data(),
      desc.strides.data(), desc.box.data(), elementStrides,
      CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<int>(desc.swizzle),
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    return Status::unsupported(
        driver.describe("cuTensorMapEncodeTiled", result) + " for " +
        describe(desc));
  return map;
}

//===----------------------------------------------------------------------===//
// Whose memory and streams
//===----------------------------------------------------------------------===//

static std::string describeGpu(int ordinal) {
  return "GPU " + std::to_string(ordinal);
}

/// The driver answers from a table of its own, in a fraction of a microsecond.
Status CudaDevice::checkAddress(const NamedAddress &address) const {
  const Driver &driver = *gpu_->driver;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED};
  // An unknown address is no failure of the call: all values are 0 then.
  unsigned type = 0, isManaged = 0;
  int ordinal = 0;
  void *values[] = {&type, &ordinal, &isManaged};
  CUresult result =
      driver.pointerGetAttributes(3, attributes, values, address.address);
  auto refuse = [&](const std::string &expected, const std::string &got) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx",
                  static_cast<unsigned long long>(address.address));
    return Status::invalidArgument(std::string(address.name) + ": expected " +
                                   expected + ", but got " + text + got);
  };
  if (result != CUDA_SUCCESS)
    return Status::invalidArgument(
        std::string(address.name) + ": " +
        driver.describe("cuPointerGetAttributes", result));
  // Every GPU reaches what is managed and what is pinned on the host.
  if (isManaged || type == CU_MEMORYTYPE_HOST)
    return Status::ok();
  if (type != CU_MEMORYTYPE_DEVICE)
    return takesPageable_ ? Status::ok()
                          : refuse("memory of " + describeGpu(gpu_->ordinal),
                                   ", which is no memory that CUDA knows");
  if (ordinal != gpu_->ordinal)
    return refuse("memory of " + describeGpu(gpu_->ordinal),
                  " on " + describeGpu(ordinal));
  return Status::ok();
}

Status CudaDevice::checkStream(CUstream stream) const {
  const Driver &driver = *gpu_->driver;
  auto handle = reinterpret_cast<uintptr_t>(stream);
  if (handle == 0 || handle == CU_STREAM_LEGACY ||
      handle == CU_STREAM_PER_THREAD)
    return Status::ok();
  CUcontext context = nullptr;
  if (CUresult result = driver.streamGetCtx(stream, &context);
      result != CUDA_SUCCESS)
    return Status::invalidArgument("stream: " +
                                   driver.describe("cuStreamGetCtx", result));
  if (context == gpu_->context)
    return Status::ok();
  // Of the same GPU it may still be a stream that the driver accepts.
  ContextScope scope(driver, context);
  CUdevice device = gpu_->device;
  if (scope.result() == CUDA_SUCCESS)
    driver.ctxGetDevice(&device);
  if (device == gpu_->device)
    return Status::ok();
  return Status::invalidArgument("stream: expected a stream of " +
                                 describeGpu(gpu_->ordinal) +
                                 ", but got one of " + describeGpu(device));
}

Status CudaDevice::checkAccess(const std::vector<NamedAddress> &addresses,
                               Stream stream) {
  ContextScope scope(*gpu_->driver, gpu_->context);
  if (scope.result() != CUDA_SUCCESS)
    return Status::launchFailed(
        gpu_->driver->describe("cuCtxPushCurrent", scope.result()));
  for (const NamedAddress &address : addresses)
    if (Status status = checkAddress(address); !status.isOk())
      return status;
  return checkStream(static_cast<CUstream>(stream));
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static Expected<DeviceInfo> queryInfo(const Driver &driver, CUdevice device) {
  DeviceInfo info;
  char name[256] = {};
  CUresult result = driver.deviceGetName(name, sizeof name - 1, device);
  info.name = name;
  int sharedBytes = 0;
  std::pair<CUdevice_attribute, int *> attributes[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &info.major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &info.minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info.multiprocessors},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &sharedBytes}};
  for (auto [attribute, value] : attributes)
    if (result == CUDA_SUCCESS)
      result = driver.deviceGetAttribute(value, attribute, device);
  if (result != CUDA_SUCCESS)
    return Status::unsupported(driver.describe("cuDeviceGetAttribute", result));
  info.maxSharedBytes = sharedBytes;
  return info;
}

/// That of the thread's context, so that a program which chose its GPU by
/// cudaSetDevice or torch.cuda.set_device need not say so again.
static Expected<int> currentOrdinal(const Driver &driver, int count) {
  CUcontext context = nullptr;
  CUdevice current = 0;
  CUresult result = driver.ctxGetCurrent(&context);
  if (result != CUDA_SUCCESS)
    return Status::unsupported(driver.describe("cuCtxGetCurrent", result));
  if (!context)
    return 0;
  if (result = driver.ctxGetDevice(&current); result != CUDA_SUCCESS)
    return Status::unsupported(driver.describe("cuCtxGetDevice", result));
  for (int ordinal = 0; ordinal < count; ++ordinal)
    if (CUdevice device = 0;
        driver.deviceGet(&device, ordinal) == CUDA_SUCCESS && device == current)
      return ordinal;
  return 0;
}

Expected<std::unique_ptr<Device>> createCudaDevice(std::optional<int> wanted) {
  Expected<const Driver *> loaded = loadDriver();
  if (!loaded)
    return loaded.status();
  const Driver &driver = **loaded;
  int count = 0;
  if (CUresult result = driver.deviceGetCount(&count); result != CUDA_SUCCESS)
    return Status::unsupported(driver.describe("cuDeviceGetCount", result));
  Expected<int> ordinal =
      wanted ? Expected<int>(*wanted) : currentOrdinal(driver, count);
  if (!ordinal)
    return ordinal.status();
  if (*ordinal < 0 || *ordinal >= count)
    return Status::unsupported("expected a GPU number below " +
                               std::to_string(count) + ", but got " +
                               std::to_string(*ordinal));
  CUdevice device = 0;
  if (CUresult result = driver.deviceGet(&device, *ordinal);
      result != CUDA_SUCCESS)
    return Status::unsupported(driver.describe("cuDeviceGet", result));
  Expected<DeviceInfo> info = queryInfo(driver, device);
  if (!info)
    return info.status();
  // Drivers that do not know the attribute have no such memory.
  int takesPageable = 0;
  driver.deviceGetAttribute(&takesPageable,
                            CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device);
  auto gpu = std::make_shared<Gpu>(&driver, device, *ordinal);
  RelaxedCapture relaxed(driver);
  if (CUresult result = driver.primaryCtxRetain(&gpu->context, device);
      result != CUDA_SUCCESS) {
    gpu->context = nullptr;
    return Status::unsupported(
        driver.describe("cuDevicePrimaryCtxRetain", result));
  }
  return std::unique_ptr<Device>(std::make_unique<CudaDevice>(
      std::move(gpu), std::move(*info), takesPageable != 0));
}

} // namespace attn::runtime
