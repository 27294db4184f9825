//===- Memory.cpp - The device's global memory ----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Memory.h"
#include "runtime/emulator/Layout.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

/// As cudaMalloc aligns, and never so much that a misplaced 512 goes unseen.
static constexpr uint64_t allocationAlignment = 512;
static constexpr uint64_t guardBytes = uint64_t(1) << 24;

static std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

void Allocation::markWritten(uint64_t address, uint64_t bytes) {
  uint64_t offset = address - base;
  while (bytes) {
    ShadowPage &page = pages[offset / ShadowPage::bytes];
    uint64_t start = offset % ShadowPage::bytes;
    uint64_t length = std::min(bytes, ShadowPage::bytes - start);
    if (length == ShadowPage::bytes) {
      page.allWritten = true;
      page.written.reset();
    } else if (!page.allWritten) {
      if (!page.written)
        page.written = std::make_unique<uint8_t[]>(ShadowPage::bytes);
      std::memset(page.written.get() + start, 1, length);
    }
    offset += length;
    bytes -= length;
  }
}

uint64_t Allocation::firstUnwritten(uint64_t address, uint64_t bytes) const {
  uint64_t offset = address - base;
  while (bytes) {
    const ShadowPage &page = pages[offset / ShadowPage::bytes];
    uint64_t start = offset % ShadowPage::bytes;
    uint64_t length = std::min(bytes, ShadowPage::bytes - start);
    if (!page.allWritten) {
      if (!page.written)
        return base + offset;
      const void *zero = std::memchr(page.written.get() + start, 0, length);
      if (zero)
        return base + offset +
               static_cast<uint64_t>(static_cast<const uint8_t *>(zero) -
                                     (page.written.get() + start));
    }
    offset += length;
    bytes -= length;
  }
  return 0;
}

uint32_t *Allocation::raceStates(uint64_t address, uint64_t &granules) {
  uint64_t offset = address - base;
  ShadowPage &page = pages[offset / ShadowPage::bytes];
  if (!page.races)
    page.races = std::make_unique<uint32_t[]>(ShadowPage::granules);
  uint64_t first = offset % ShadowPage::bytes / 4;
  granules = ShadowPage::granules - first;
  return page.races.get() + first;
}

GlobalMemory::~GlobalMemory() {
  for (auto &[base, allocation] : allocations_)
    if (allocation.host)
      munmap(allocation.host, std::max<uint64_t>(allocation.size, 1));
}

Expected<uint64_t> GlobalMemory::allocate(uint64_t bytes) {
  if (!next_)
    next_ = globalBase;
  uint64_t limit = sharedWindow - next_;
  if (bytes >= limit || limit - bytes < 2 * guardBytes)
    return Status::launchFailed("emulator allocation of " +
                                std::to_string(bytes) +
                                " bytes failed: out of address space");
  // Null for an empty allocation, as cuMemAlloc refuses it and callers that
  // have no bytes never use the pointer.
  if (!bytes)
    return uint64_t(0);
  void *host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (host == MAP_FAILED)
    return Status::launchFailed("emulator allocation of " +
                                std::to_string(bytes) +
                                " bytes failed: " + std::strerror(errno));
  Allocation allocation;
  allocation.base = next_;
  allocation.size = bytes;
  allocation.host = static_cast<uint8_t *>(host);
  if (shadow_)
    allocation.pages.resize((bytes + ShadowPage::bytes - 1) /
                            ShadowPage::bytes);
  next_ += (bytes + guardBytes + allocationAlignment - 1) /
           allocationAlignment * allocationAlignment;
  uint64_t base = allocation.base;
  allocations_.emplace(base, std::move(allocation));
  return base;
}

Status GlobalMemory::release(uint64_t base) {
  if (!base)
    return Status::ok();
  auto it = allocations_.find(base);
  if (it == allocations_.end())
    return Status::invalidArgument(
        "free of " + hex(base) +
        ": expected the base of an allocation, but got an address" +
        describe(base, 1));
  Allocation &allocation = it->second;
  if (allocation.freed)
    return Status::invalidArgument("free of " + hex(base) +
                                   ": it was freed before");
  munmap(allocation.host, allocation.size);
  allocation.host = nullptr;
  allocation.freed = true;
  allocation.pages.clear();
  last_ = nullptr;
  return Status::ok();
}

Allocation *GlobalMemory::find(uint64_t address, uint64_t bytes) {
  if (last_ && last_->contains(address, bytes))
    return last_;
  auto it = allocations_.upper_bound(address);
  if (it == allocations_.begin())
    return nullptr;
  Allocation &candidate = std::prev(it)->second;
  if (candidate.freed || !candidate.contains(address, bytes))
    return nullptr;
  return last_ = &candidate;
}

std::string GlobalMemory::describe(uint64_t address, uint64_t bytes) const {
  auto it = allocations_.upper_bound(address);
  const Allocation *below =
      it == allocations_.begin() ? nullptr : &std::prev(it)->second;
  const Allocation *above = it == allocations_.end() ? nullptr : &it->second;
  auto name = [](const Allocation &allocation) {
    return "the allocation of " + std::to_string(allocation.size) +
           " bytes at " + hex(allocation.base);
  };
  if (below && below->freed && below->contains(address, 1))
    return " in " + name(*below) + ", which was freed";
  if (below && below->contains(address, 1))
    return " whose last bytes are past the end of " + name(*below);
  if (below && address - (below->base + below->size) < guardBytes / 2)
    return " " + std::to_string(address - (below->base + below->size)) +
           " bytes past the end of " + name(*below);
  if (above && above->base - address <= guardBytes)
    return " " + std::to_string(above->base - address) + " bytes before " +
           name(*above);
  return " in no allocation (of " + std::to_string(bytes) + " bytes)";
}

void GlobalMemory::beginLaunch() {
  for (auto &[base, allocation] : allocations_)
    for (ShadowPage &page : allocation.pages)
      page.races.reset();
}
