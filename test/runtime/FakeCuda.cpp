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
// or wrong context makes every call fail, and what a capture forbids
// invalidates it, as in the real driver.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "FakeAttention.h"

#include "runtime/CudaDriver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

using namespace attn::runtime::cuda;

namespace {
constexpr CUresult kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201,
                   kInvalidPtx = 218, kInvalidHandle = 400, kNotFound = 500,
                   kCaptureUnsupported = 900;
constexpr int kGpus = 2;

struct FakeFunction {
  std::string entry;
  CUcontext context;
  int sharedLimit;
};
struct FakeModule {
  CUcontext context;
  std::vector<std::unique_ptr<FakeFunction>> functions;
};
struct FakeStream {
  CUcontext context;
};
struct Memory {
  size_t bytes;
  unsigned type;
  int ordinal;
  bool isManaged;
};

thread_local std::vector<CUcontext> stack;
thread_local CUstreamCaptureMode captureMode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/// What all threads share, to the end of the process: like a driver's.
struct State {
  std::mutex mutex;
  std::map<uint64_t, Memory> memory;
  std::vector<std::unique_ptr<FakeStream>> streams;
  FakeStream *captured = nullptr;
  bool isCaptureValid = true, isPageable = false, isBroken = false;
  std::set<FakeModule *> modules;
};
State &state = *new State;

using Lock = std::lock_guard<std::mutex>;

/// A primary context's handle says which GPU it is of; one of a user's own is
/// 16 further.
CUcontext makeContext(int ordinal, bool isPrimary) {
  return reinterpret_cast<CUcontext>(
      uintptr_t(0x1000 + ordinal + (isPrimary ? 0 : 16)));
}
int ordinalOf(CUcontext context) {
  return (reinterpret_cast<uintptr_t>(context) - 0x1000) % 16;
}
CUcontext current() { return stack.empty() ? nullptr : stack.back(); }
bool isReady() { return current() != nullptr; }

/// For what may wait for a GPU or move memory about: while any thread captures,
/// only threads in relaxed mode may.
CUresult enterUnsafe() {
  if (!isReady())
    return kInvalidContext;
  Lock lock(state.mutex);
  if (!state.captured || captureMode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  state.isCaptureValid = false;
  return kCaptureUnsupported;
}
} // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) CUresult

FAKE cuInit(unsigned) { return CUDA_SUCCESS; }
FAKE cuGetErrorName(CUresult result, const char **name) {
  *name = result == kInvalidPtx      ? "CUDA_ERROR_INVALID_PTX"
          : result == kOutOfMemory   ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == kInvalidValue  ? "CUDA_ERROR_INVALID_VALUE"
          : result == kNotFound      ? "CUDA_ERROR_NOT_FOUND"
          : result == kInvalidHandle ? "CUDA_ERROR_INVALID_HANDLE"
          : result == kCaptureUnsupported
              ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
              : "CUDA_ERROR_INVALID_CONTEXT";
  return CUDA_SUCCESS;
}
FAKE cuGetErrorString(CUresult, const char **text) {
  *text = "the driver's words";
  return CUDA_SUCCESS;
}
FAKE cuDeviceGetCount(int *count) {
  *count = kGpus;
  return CUDA_SUCCESS;
}
FAKE cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
FAKE cuDeviceGetName(char *name, int size, CUdevice device) {
  std::snprintf(name, size, "fake GPU %d", device);
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
  case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
    *value = state.isPageable;
    return CUDA_SUCCESS;
  }
  return kInvalidValue;
}
FAKE cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  *context = makeContext(device, true);
  return CUDA_SUCCESS;
}
FAKE cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
FAKE cuCtxGetCurrent(CUcontext *context) {
  *context = current();
  return CUDA_SUCCESS;
}
FAKE cuCtxPushCurrent_v2(CUcontext context) {
  if (state.isBroken)
    return kInvalidContext;
  stack.push_back(context);
  return CUDA_SUCCESS;
}
FAKE cuCtxPopCurrent_v2(CUcontext *context) {
  if (stack.empty())
    return kInvalidContext;
  *context = current();
  stack.pop_back();
  return CUDA_SUCCESS;
}
FAKE cuCtxGetDevice(CUdevice *device) {
  *device = isReady() ? ordinalOf(current()) : 0;
  return isReady() ? CUDA_SUCCESS : kInvalidContext;
}
FAKE cuCtxSynchronize() { return isReady() ? CUDA_SUCCESS : kInvalidContext; }

FAKE cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes,
                            void **values, CUdeviceptr pointer) {
  Lock lock(state.mutex);
  Memory found = {0, 0, 0, false};
  auto it = state.memory.upper_bound(pointer);
  if (it != state.memory.begin() && pointer < (--it)->first + it->second.bytes)
    found = it->second;
  for (unsigned i = 0; i < count; ++i)
    switch (attributes[i]) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned *>(values[i]) = found.type;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int *>(values[i]) = found.ordinal;
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned *>(values[i]) = found.isManaged;
      break;
    }
  return CUDA_SUCCESS;
}

static FakeStream *findStream(CUstream stream) {
  Lock lock(state.mutex);
  for (auto &known : state.streams)
    if (known.get() == reinterpret_cast<FakeStream *>(stream))
      return known.get();
  return nullptr;
}
FAKE cuStreamGetCtx(CUstream stream, CUcontext *context) {
  FakeStream *known = findStream(stream);
  if (!known)
    return kInvalidHandle;
  *context = known->context;
  return CUDA_SUCCESS;
}
FAKE cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  Lock lock(state.mutex);
  bool isCaptured =
      stream && reinterpret_cast<FakeStream *>(stream) == state.captured;
  *status = isCaptured ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                       : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
FAKE cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  std::swap(*mode, captureMode);
  return CUDA_SUCCESS;
}

FAKE cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                        CUjit_option *options, void **values) {
  if (CUresult result = enterUnsafe())
    return result;
  if (std::strncmp(static_cast<const char *>(image), "bad", 3) == 0) {
    if (count == 2 && options[0] == CU_JIT_ERROR_LOG_BUFFER)
      std::snprintf(static_cast<char *>(values[0]),
                    reinterpret_cast<size_t>(values[1]),
                    "ptxas line 7: unknown instruction");
    return kInvalidPtx;
  }
  auto *fake = new FakeModule{current(), {}};
  *module = reinterpret_cast<CUmodule>(fake);
  Lock lock(state.mutex);
  state.modules.insert(fake);
  return CUDA_SUCCESS;
}
FAKE cuModuleUnload(CUmodule module) {
  if (CUresult result = enterUnsafe())
    return result;
  auto *fake = reinterpret_cast<FakeModule *>(module);
  Lock lock(state.mutex);
  state.modules.erase(fake);
  delete fake;
  return CUDA_SUCCESS;
}
FAKE cuModuleGetFunction(CUfunction *function, CUmodule module,
                         const char *name) {
  std::string entry = name;
  if (entry != "sample_entry" && entry.rfind("attention", 0) != 0)
    return kNotFound;
  auto *owner = reinterpret_cast<FakeModule *>(module);
  auto *fake = new FakeFunction{entry, owner->context, 0};
  owner->functions.emplace_back(fake);
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
  FakeStream *known = findStream(stream);
  if (fake->context != current() || (stream && !known) ||
      (known && known->context != current()))
    return kInvalidHandle;
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
  if (CUresult result = enterUnsafe())
    return result;
  if (bytes > (size_t(1) << 40))
    return kOutOfMemory;
  *pointer = reinterpret_cast<CUdeviceptr>(
      std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  Lock lock(state.mutex);
  state.memory[*pointer] = {bytes, CU_MEMORYTYPE_DEVICE, ordinalOf(current()),
                            false};
  return CUDA_SUCCESS;
}
FAKE cuMemFree_v2(CUdeviceptr pointer) {
  if (CUresult result = enterUnsafe())
    return result;
  Lock lock(state.mutex);
  state.memory.erase(pointer);
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

//===----------------------------------------------------------------------===//
// For tests
//===----------------------------------------------------------------------===//

static void *makeStream(int ordinal, bool isPrimary) {
  Lock lock(state.mutex);
  state.streams.push_back(std::make_unique<FakeStream>(
      FakeStream{makeContext(ordinal, isPrimary)}));
  return state.streams.back().get();
}

static bool endCapture() {
  Lock lock(state.mutex);
  bool isValid = state.captured && state.isCaptureValid;
  state.captured = nullptr;
  return isValid;
}

extern "C" __attribute__((visibility("default"))) const FakeControl *
fakeControl() {
  static const FakeControl control = {
      [](int ordinal) {
        stack.clear();
        if (ordinal >= 0)
          stack.push_back(makeContext(ordinal, true));
      },
      [] { return isReady() ? ordinalOf(current()) : -1; },
      makeStream,
      [](const void *begin, size_t bytes, unsigned type, int ordinal,
         bool isManaged) {
        Lock lock(state.mutex);
        state.memory[reinterpret_cast<uint64_t>(begin)] = {bytes, type, ordinal,
                                                           isManaged};
      },
      [](const void *begin) {
        Lock lock(state.mutex);
        state.memory.erase(reinterpret_cast<uint64_t>(begin));
      },
      [](bool isAccessible) { state.isPageable = isAccessible; },
      [](void *stream) {
        Lock lock(state.mutex);
        state.captured = static_cast<FakeStream *>(stream);
        state.isCaptureValid = true;
      },
      endCapture,
      [] { return static_cast<int>(state.modules.size()); },
      [](bool isBroken) { state.isBroken = isBroken; },
  };
  return &control;
}
