//===- FakeCuda.h - What the fake driver remembers ------------ -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_FAKECUDA_H
#define ATTN_TEST_RUNTIME_FAKECUDA_H

#include <cstddef>
#include <cstdint>

/// A tensor map as the fake encodes it; 128 bytes like the real one.
struct FakeMap {
  uint64_t address = 0;
  uint64_t dims[4] = {};
  uint64_t strides[3] = {};
  uint32_t box[4] = {};
  int32_t type = 0, swizzle = 0;
  uint64_t padding[5] = {};
};
static_assert(sizeof(FakeMap) == 128, "the size of a CUtensorMap");

/// What a launch of the sample kernel was given.
struct FakeLaunch {
  uint32_t gridX, blockX, sharedBytes;
  void *stream;
  int32_t length;
  int64_t stride;
  float scale;
  FakeMap map;
};

/// What a test may do to the driver. There are two GPUs, and each thread starts
/// without a context.
struct FakeControl {
  /// Makes a GPU's primary context current in this thread; none for -1.
  void (*setCurrent)(int ordinal);
  int (*getCurrent)();
  /// A stream of the GPU's primary context, or of another one on it.
  void *(*makeStream)(int ordinal, bool isPrimary);
  /// Lets the driver know memory of the test.
  void (*addMemory)(const void *begin, size_t bytes, unsigned type, int ordinal,
                    bool isManaged);
  void (*removeMemory)(const void *begin);
  /// Whether kernels may read what the driver does not know.
  void (*setPageable)(bool isAccessible);
  /// A capture of the stream in global mode, by whichever thread.
  void (*beginCapture)(void *stream);
  /// Whether it is still valid.
  bool (*endCapture)();
  int (*countModules)();
  /// From now on no context can be made current.
  void (*breakContexts)(bool isBroken);
};

/// Exported as "fakeControl" for dlsym.
using GetFakeControl = const FakeControl *(*)();

#endif // ATTN_TEST_RUNTIME_FAKECUDA_H
