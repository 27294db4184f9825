//===- Memory.h - The device's global memory --------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocations are address space first: an allocation of many gigabytes costs
// memory only where it is touched, its shadow too. Device addresses are the
// emulator's own, the same in each run, with gaps between allocations so that
// running past one never hits another.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_MEMORY_H
#define ATTN_RUNTIME_EMULATOR_MEMORY_H

#include "runtime/Status.h"
#include "runtime/emulator/Statistics.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace attn::runtime::emulator {

/// What is known of 64 KiB of an allocation.
struct ShadowPage {
  static constexpr uint64_t bytes = 1 << 16;
  static constexpr uint64_t granules = bytes / 4;

  bool allWritten = false;
  /// One byte a byte, set where it was written; null while none was.
  std::unique_ptr<uint8_t[]> written;
  /// The race detector's state of each 4 bytes, of this launch.
  std::unique_ptr<uint32_t[]> races;
};

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;
  uint8_t *host = nullptr;
  bool freed = false;
  std::vector<ShadowPage> pages;
  Traffic traffic;

  uint8_t *at(uint64_t address) const { return host + (address - base); }
  bool contains(uint64_t address, uint64_t bytes) const {
    return address >= base && bytes <= size && address - base <= size - bytes;
  }

  void markWritten(uint64_t address, uint64_t bytes);
  /// The address of the first byte that was never written, or 0.
  uint64_t firstUnwritten(uint64_t address, uint64_t bytes) const;
  /// The states of the granules from the one of `address`, up to the end of
  /// its page.
  uint32_t *raceStates(uint64_t address, uint64_t &granules);
};

class GlobalMemory {
public:
  explicit GlobalMemory(bool shadow) : shadow_(shadow) {}
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;

  Expected<uint64_t> allocate(uint64_t bytes);
  Status release(uint64_t base);
  /// The live allocation that holds all the bytes, or null.
  Allocation *find(uint64_t address, uint64_t bytes);
  /// Why `find` found none: past the end of which allocation, or freed.
  std::string describe(uint64_t address, uint64_t bytes) const;
  /// Forgets races: launches on a stream are ordered.
  void beginLaunch();
  std::map<uint64_t, Allocation> &allocations() { return allocations_; }
  bool hasShadow() const { return shadow_; }

private:
  std::map<uint64_t, Allocation> allocations_;
  Allocation *last_ = nullptr;
  uint64_t next_ = 0;
  bool shadow_;
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_MEMORY_H
