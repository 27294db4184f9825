/*===- attn.h - C interface of the attn-mlir runtime --------------*- C -*-===*\
 *
 * Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
\*===----------------------------------------------------------------------===*/
/*
 * Loads a compiled attention kernel (its manifest NAME.json and, beside it,
 * NAME.ptx or NAME.cubin) and launches it on raw device pointers.
 *
 * Every function returns an attn_status; none throws or aborts. After a
 * failure attn_last_error() of the same thread says what was wrong. Handles may
 * be used from any number of threads at once; a handle must not be used after
 * its close function. A kernel keeps its device alive.
 *
 * Plain C, and simple enough for the foreign function interface of any
 * language; tools/bench/attn_runtime.py is one in Python.
 */
#ifndef ATTN_RUNTIME_ATTN_H
#define ATTN_RUNTIME_ATTN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ATTN_API __attribute__((visibility("default")))
#else
#define ATTN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this interface; a program built for one major number works with
 * every library of it. */
#define ATTN_API_VERSION 1

typedef enum attn_status {
  ATTN_OK = 0,
  /** A launch failed, or a kernel was caught doing something illegal. */
  ATTN_LAUNCH_FAILED = 1,
  /** An argument is wrong; nothing was launched. */
  ATTN_INVALID_ARGUMENT = 2,
  /** Valid, but this device or kernel cannot do it; nothing was launched. */
  ATTN_UNSUPPORTED = 3
} attn_status;

typedef struct attn_device attn_device;
typedef struct attn_kernel attn_kernel;

/** A tensor on the device: sizes and strides in elements, `rank` of each, in
 * the order of the manifest's dims. */
typedef struct attn_tensor {
  const char *name;
  uint64_t data;
  int32_t rank;
  const int64_t *sizes;
  const int64_t *strides;
} attn_tensor;

typedef struct attn_scalar {
  const char *name;
  double value;
} attn_scalar;

/** All of one launch. Set `struct_size` to sizeof(attn_launch) and what is not
 * used to zero. */
typedef struct attn_launch {
  uint64_t struct_size;
  const attn_tensor *tensors;
  int32_t num_tensors;
  const attn_scalar *scalars;
  int32_t num_scalars;
  /** A CUstream or cudaStream_t; null is the default stream. */
  void *stream;
  /** At least attn_plan.workspace_bytes, aligned to 256. */
  uint64_t workspace;
  uint64_t workspace_bytes;
  /** Not 0: at most this many blocks, each then takes several tiles. */
  uint32_t grid_limit;
} attn_launch;

/** What a launch would do. */
typedef struct attn_plan {
  uint64_t workspace_bytes;
  /** Of all kernels of the launch. */
  uint64_t num_blocks;
  /** By the manifest's formulas; 0 where it has none. */
  double flops;
  double hbm_bytes;
} attn_plan;

ATTN_API int32_t attn_api_version(void);

/** The message of this thread's last failure, valid until its next call. Never
 * null. */
ATTN_API const char *attn_last_error(void);

/** `name` is "auto" (the GPU where there is one, else the emulator), "cuda"
 * (the GPU whose context is current in this thread, as cudaSetDevice makes it,
 * else GPU 0), "cuda:N" or "emulator". A GPU is used through its primary
 * context, as by the CUDA runtime and PyTorch. */
ATTN_API attn_status attn_device_open(const char *name, attn_device **device);
ATTN_API void attn_device_close(attn_device *device);
/** "cuda" or "emulator", valid as long as the device. */
ATTN_API const char *attn_device_kind(const attn_device *device);
ATTN_API const char *attn_device_name(const attn_device *device);

/* Memory, for programs that have no allocator of their own. */
ATTN_API attn_status attn_device_allocate(attn_device *device, size_t bytes,
                                          uint64_t *pointer);
ATTN_API attn_status attn_device_free(attn_device *device, uint64_t pointer);
ATTN_API attn_status attn_device_copy_in(attn_device *device, uint64_t to,
                                         const void *from, size_t bytes);
ATTN_API attn_status attn_device_copy_out(attn_device *device, void *to,
                                          uint64_t from, size_t bytes);
/** Waits for every launch and reports the failure of any. */
ATTN_API attn_status attn_device_synchronize(attn_device *device);

/** Loads a manifest and the cubin or PTX that it names, which must be the one
 * that it was written with. */
ATTN_API attn_status attn_kernel_load(attn_device *device,
                                      const char *manifest_path,
                                      attn_kernel **kernel);
/** The same from memory; `image` is PTX text or a cubin. */
ATTN_API attn_status attn_kernel_load_memory(
    attn_device *device, const char *manifest, size_t manifest_size,
    const void *image, size_t image_size, attn_kernel **kernel);
/** Allowed while a stream of any thread is captured. Code that a CUDA graph has
 * captured stays loaded, so that the graph remains valid. */
ATTN_API void attn_kernel_close(attn_kernel *kernel);

/** The manifest's text, valid as long as the kernel. */
ATTN_API const char *attn_kernel_manifest(const attn_kernel *kernel);
ATTN_API const char *attn_kernel_name(const attn_kernel *kernel);

/** Checks a launch as attn_kernel_launch does, without launching; the
 * workspace may still be missing. `plan` may be null. */
ATTN_API attn_status attn_kernel_plan(const attn_kernel *kernel,
                                      const attn_launch *launch,
                                      attn_plan *plan);

/** Checks and launches; returns without waiting. Allocates no device memory
 * and may be captured into a CUDA graph. Tensors, workspace and stream must be
 * of the kernel's GPU; managed and pinned memory is of all of them. */
ATTN_API attn_status attn_kernel_launch(const attn_kernel *kernel,
                                        const attn_launch *launch);

#ifdef __cplusplus
}
#endif

#endif /* ATTN_RUNTIME_ATTN_H */
