//===- Aligned.h - Vectors that start a cache line --------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_ALIGNED_H
#define ATTN_RUNTIME_EMULATOR_ALIGNED_H

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace attn::runtime::emulator {

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U> &) {}

  T *allocate(size_t count) {
    return static_cast<T *>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T *pointer, size_t) { ::operator delete(pointer, alignment); }

  bool operator==(const AlignedAllocator &) const { return true; }
  bool operator!=(const AlignedAllocator &) const { return false; }
};

using AlignedWords = std::vector<uint32_t, AlignedAllocator<uint32_t>>;

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_ALIGNED_H
