//===- FakeCuda.h - What the fake driver remembers ------------ -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_FAKECUDA_H
#define ATTN_TEST_RUNTIME_FAKECUDA_H

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

#endif // ATTN_TEST_RUNTIME_FAKECUDA_H
