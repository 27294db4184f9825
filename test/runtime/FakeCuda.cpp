//===- FakeCuda.cpp - A CUDA driver that only remembers -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in for libcuda.so.1 in tests: device memory is host memory. A module
// has the kernel "sample_entry", which writes what it was given to the address
// in its first parameter (a FakeLaunch), and those of FakeAttention.h. An unset
// or wrong context makes every call fail, as in the real driver.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "FakeAttention.h"

#include "runtime/CudaDriver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace attn::runtime::cuda;

namespace {
constexpr CUresult kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201,
                   kInvalidPtx = 218, kNotFound = 500;
thread_local CUcontext current = nullptr;
CUcontext primary() { return reinterpret_cast<CUcontext>(0x1234); }
bool isReady() { return current == primary(); }

struct FakeFunction {
  std::string entry;
  int sharedLimit;
};
struct FakeModule {
  std::vector<std::unique_ptr<FakeFunction>> functions;
};
} // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) CUresult

FAKE cuInit(unsigned) { return CUDA_SUCCESS; }
FAKE cuGetErrorName(CUresult result, const char **name) {
  *name = result == kInvalidPtx     ? "CUDA_ERROR_INVALID_PTX"
          : result == kOutOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == kInvalidValue ? "CUDA_ERROR_INVALID_VALUE"
          : result == kNotFound     ? "CUDA_ERROR_NOT_FOUND"
                                    : "CUDA_ERROR_INVALID_CONTEXT";
  return CUDA_SUCCESS;
}
FAKE cuGetErrorString(CUresult, const char **text) {
  *text = "the driver's words";
  return CUDA_SUCCESS;
}
FAKE cuDeviceGetCount(int *count) {
  *count = 1;
  return CUDA_SUCCESS;
}
FAKE cuDeviceGet(CUdevice *device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
FAKE cuDeviceGetName(char *name, int size, CUdevice) {
  std::snprintf(name, size, "fake GPU");
  return CUDA_SUCCESS;
}
FAKE cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = 9;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = 0;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 132;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = 232448;
    return CUDA_SUCCESS;
  }
  return kInvalidValue;
}
FAKE cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  *context = primary();
  return CUDA_SUCCESS;
}
FAKE cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
FAKE cuCtxGetCurrent(CUcontext *context) {
  *context = current;
  return CUDA_SUCCESS;
}
FAKE cuCtxPushCurrent_v2(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
FAKE cuCtxPopCurrent_v2(CUcontext *context) {
  *context = current;
  current = nullptr;
  return CUDA_SUCCESS;
}
FAKE cuCtxSynchronize() { return isReady() ? CUDA_SUCCESS : kInvalidContext; }

FAKE cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                        CUjit_option *options, void **values) {
  if (!isReady())
    return kInvalidContext;
  if (std::strncmp(static_cast<const char *>(image), "bad", 3) == 0) {
    if (count == 2 && options[0] == CU_JIT_ERROR_LOG_BUFFER)
      std::snprintf(static_cast<char *>(values[0]),
                    reinterpret_cast<size_t>(values[1]),
                    "ptxas line 7: unknown instruction");
    return kInvalidPtx;
  }
  *module = reinterpret_cast<CUmodule>(new FakeModule);
  return CUDA_SUCCESS;
}
FAKE cuModuleUnload(CUmodule module) {
  delete reinterpret_cast<FakeModule *>(module);
  return isReady() ? CUDA_SUCCESS : kInvalidContext;
}
FAKE cuModuleGetFunction(CUfunction *function, CUmodule module,
                         const char *name) {
  std::string entry = name;
  if (entry != "sample_entry" && entry.rfind("attention", 0) != 0)
    return kNotFound;
  auto *fake = new FakeFunction{entry, 0};
  reinterpret_cast<FakeModule *>(module)->functions.emplace_back(fake);
  *function = reinterpret_cast<CUfunction>(fake);
  return CUDA_SUCCESS;
}
FAKE cuFuncGetAttribute(int *value, CUfunction_attribute, CUfunction) {
  *value = 1024;
  return CUDA_SUCCESS;
}
FAKE cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                        int value) {
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      value > 232448 - 1024)
    return kInvalidValue;
  reinterpret_cast<FakeFunction *>(function)->sharedLimit = value;
  return CUDA_SUCCESS;
}

FAKE cuLaunchKernel(CUfunction function, unsigned gridX, unsigned, unsigned,
                    unsigned blockX, unsigned, unsigned, unsigned sharedBytes,
                    CUstream stream, void **parameters, void **) {
  if (!isReady())
    return kInvalidContext;
  auto *fake = reinterpret_cast<FakeFunction *>(function);
  if (static_cast<int>(sharedBytes) > fake->sharedLimit)
    return kInvalidValue;
  if (fake->entry != "sample_entry") {
    runFakeAttention(fake->entry, parameters);
    return CUDA_SUCCESS;
  }
  FakeLaunch *launch = *static_cast<FakeLaunch **>(parameters[0]);
  launch->gridX = gridX;
  launch->blockX = blockX;
  launch->sharedBytes = sharedBytes;
  launch->stream = stream;
  std::memcpy(&launch->length, parameters[1], sizeof launch->length);
  std::memcpy(&launch->stride, parameters[2], sizeof launch->stride);
  std::memcpy(&launch->scale, parameters[3], sizeof launch->scale);
  std::memcpy(&launch->map, parameters[4], sizeof launch->map);
  return CUDA_SUCCESS;
}

FAKE cuTensorMapEncodeTiled(void *map, CUtensorMapDataType type, uint32_t rank,
                            void *address, const uint64_t *dims,
                            const uint64_t *strides, const uint32_t *box,
                            const uint32_t *elementStrides, int interleave,
                            int swizzle, int l2Promotion, int oobFill) {
  if (!isReady())
    return kInvalidContext;
  if (rank != 4 || interleave != 0 || oobFill != 0 || l2Promotion != 3 ||
      elementStrides[0] != 1 || reinterpret_cast<uintptr_t>(map) % 64 != 0)
    return kInvalidValue;
  FakeMap fake;
  fake.address = reinterpret_cast<uint64_t>(address);
  fake.type = type;
  fake.swizzle = swizzle;
  std::memcpy(fake.dims, dims, sizeof fake.dims);
  std::memcpy(fake.strides, strides, sizeof fake.strides);
  std::memcpy(fake.box, box, sizeof fake.box);
  std::memcpy(map, &fake, sizeof fake);
  return CUDA_SUCCESS;
}

FAKE cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  if (!isReady())
    return kInvalidContext;
  if (bytes > (size_t(1) << 40))
    return kOutOfMemory;
  *pointer = reinterpret_cast<CUdeviceptr>(
      std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return CUDA_SUCCESS;
}
FAKE cuMemFree_v2(CUdeviceptr pointer) {
  std::free(reinterpret_cast<void *>(pointer));
  return CUDA_SUCCESS;
}
FAKE cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = *total = size_t(1) << 37;
  return CUDA_SUCCESS;
}
FAKE cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return isReady() ? CUDA_SUCCESS : kInvalidContext;
}
FAKE cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return isReady() ? CUDA_SUCCESS : kInvalidContext;
}
FAKE cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                          CUstream) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
              bytes);
  return CUDA_SUCCESS;
}
FAKE cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
                     CUstream) {
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return CUDA_SUCCESS;
}
FAKE cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(new int(0));
  return CUDA_SUCCESS;
}
FAKE cuEventDestroy_v2(CUevent event) {
  delete reinterpret_cast<int *>(event);
  return CUDA_SUCCESS;
}
FAKE cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
FAKE cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
FAKE cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  *milliseconds = 2;
  return CUDA_SUCCESS;
}
