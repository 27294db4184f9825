//===- CudaDriver.h - The CUDA driver, found at run time ------ -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few types and functions of the driver API that the runtime uses, declared
// here so that nothing needs a CUDA toolkit to build or a driver to load. Names
// and values are those of cuda.h; they are ABI and do not change.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_CUDADRIVER_H
#define ATTN_RUNTIME_CUDADRIVER_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace attn::runtime::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;

constexpr CUresult CUDA_SUCCESS = 0;

enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum CUfunction_attribute : int {
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum CUpointer_attribute : int {
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
};

enum CUmemorytype : unsigned {
  CU_MEMORYTYPE_HOST = 1,
  CU_MEMORYTYPE_DEVICE = 2,
};

enum CUstreamCaptureMode : int {
  CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

enum CUstreamCaptureStatus : int {
  CU_STREAM_CAPTURE_STATUS_NONE = 0,
  CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
};

enum CUjit_option : int {
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
};

enum CUtensorMapDataType : int {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
};

constexpr int CU_TENSOR_MAP_INTERLEAVE_NONE = 0;
constexpr int CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3;
/// Handles of default streams, which every context has.
constexpr uintptr_t CU_STREAM_LEGACY = 1, CU_STREAM_PER_THREAD = 2;
/// Zeros, despite its name.
constexpr int CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0;

// The name in the library, the name here, and the parameters.
#define ATTN_CUDA_FUNCTIONS(X)                                                 \
  X(cuInit, init, (unsigned))                                                  \
  X(cuGetErrorName, getErrorName, (CUresult, const char **))                   \
  X(cuGetErrorString, getErrorString, (CUresult, const char **))               \
  X(cuDeviceGetCount, deviceGetCount, (int *))                                 \
  X(cuDeviceGet, deviceGet, (CUdevice *, int))                                 \
  X(cuDeviceGetName, deviceGetName, (char *, int, CUdevice))                   \
  X(cuDeviceGetAttribute, deviceGetAttribute,                                  \
    (int *, CUdevice_attribute, CUdevice))                                     \
  X(cuDevicePrimaryCtxRetain, primaryCtxRetain, (CUcontext *, CUdevice))       \
  X(cuDevicePrimaryCtxRelease_v2, primaryCtxRelease, (CUdevice))               \
  X(cuCtxGetCurrent, ctxGetCurrent, (CUcontext *))                             \
  X(cuCtxPushCurrent_v2, ctxPushCurrent, (CUcontext))                          \
  X(cuCtxPopCurrent_v2, ctxPopCurrent, (CUcontext *))                          \
  X(cuCtxGetDevice, ctxGetDevice, (CUdevice *))                                \
  X(cuCtxSynchronize, ctxSynchronize, ())                                      \
  X(cuPointerGetAttributes, pointerGetAttributes,                              \
    (unsigned, CUpointer_attribute *, void **, CUdeviceptr))                   \
  X(cuStreamGetCtx, streamGetCtx, (CUstream, CUcontext *))                     \
  X(cuStreamIsCapturing, streamIsCapturing,                                    \
    (CUstream, CUstreamCaptureStatus *))                                       \
  X(cuThreadExchangeStreamCaptureMode, exchangeCaptureMode,                    \
    (CUstreamCaptureMode *))                                                   \
  X(cuModuleLoadDataEx, moduleLoadDataEx,                                      \
    (CUmodule *, const void *, unsigned, CUjit_option *, void **))             \
  X(cuModuleUnload, moduleUnload, (CUmodule))                                  \
  X(cuModuleGetFunction, moduleGetFunction,                                    \
    (CUfunction *, CUmodule, const char *))                                    \
  X(cuFuncGetAttribute, funcGetAttribute,                                      \
    (int *, CUfunction_attribute, CUfunction))                                 \
  X(cuFuncSetAttribute, funcSetAttribute,                                      \
    (CUfunction, CUfunction_attribute, int))                                   \
  X(cuLaunchKernel, launchKernel,                                              \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
     unsigned, CUstream, void **, void **))                                    \
  X(cuMemAlloc_v2, memAlloc, (CUdeviceptr *, size_t))                          \
  X(cuMemFree_v2, memFree, (CUdeviceptr))                                      \
  X(cuMemGetInfo_v2, memGetInfo, (size_t *, size_t *))                         \
  X(cuMemcpyHtoD_v2, memcpyHtoD, (CUdeviceptr, const void *, size_t))          \
  X(cuMemcpyDtoH_v2, memcpyDtoH, (void *, CUdeviceptr, size_t))                \
  X(cuMemcpyDtoDAsync_v2, memcpyDtoDAsync,                                     \
    (CUdeviceptr, CUdeviceptr, size_t, CUstream))                              \
  X(cuMemsetD8Async, memsetD8Async,                                            \
    (CUdeviceptr, unsigned char, size_t, CUstream))                            \
  X(cuEventCreate, eventCreate, (CUevent *, unsigned))                         \
  X(cuEventDestroy_v2, eventDestroy, (CUevent))                                \
  X(cuEventRecord, eventRecord, (CUevent, CUstream))                           \
  X(cuEventSynchronize, eventSynchronize, (CUevent))                           \
  X(cuEventElapsedTime, eventElapsedTime, (float *, CUevent, CUevent))

struct Driver {
#define ATTN_CUDA_MEMBER(symbol, member, parameters)                           \
  CUresult(*member) parameters = nullptr;
  ATTN_CUDA_FUNCTIONS(ATTN_CUDA_MEMBER)
#undef ATTN_CUDA_MEMBER

  /// Null in drivers older than 12.0.
  CUresult (*tensorMapEncodeTiled)(void *map, CUtensorMapDataType type,
                                   uint32_t rank, void *address,
                                   const uint64_t *dims,
                                   const uint64_t *strides, const uint32_t *box,
                                   const uint32_t *elementStrides,
                                   int interleave, int swizzle, int l2Promotion,
                                   int oobFill) = nullptr;

  /// "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  std::string describe(const char *call, CUresult result) const;
};

/// Opens libcuda.so.1 once in the life of the process and initialises it.
/// Unsupported, with the reason, where there is no usable driver.
Expected<const Driver *> loadDriver();

/// The same from a library of another name, not remembered.
Expected<Driver> loadDriverFrom(const char *library);

} // namespace attn::runtime::cuda

#endif // ATTN_RUNTIME_CUDADRIVER_H
