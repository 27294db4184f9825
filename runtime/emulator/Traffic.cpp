//===- Traffic.cpp - Counts what an access moves --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Traffic.h"

#include <algorithm>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

static constexpr unsigned sectorBytes = 32;
static constexpr unsigned bankCount = 32;
static constexpr unsigned wavefrontBytes = 128;

/// The most words that one bank has to give to the lanes of `mask`. The same
/// word for several lanes is one.
static unsigned passes(const uint64_t *addresses, uint32_t mask,
                       unsigned words) {
  uint64_t seen[bankCount][warpLanes];
  unsigned used[bankCount] = {};
  unsigned most = 1;
  for (; mask; mask &= mask - 1) {
    uint64_t first = addresses[firstLane(mask)] / 4;
    for (uint64_t word = first; word < first + words; ++word) {
      unsigned bank = word % bankCount;
      uint64_t *end = seen[bank] + used[bank];
      if (std::find(seen[bank], end, word) != end)
        continue;
      *end = word;
      most = std::max(most, ++used[bank]);
    }
  }
  return most;
}

void attn::runtime::emulator::countShared(
    Context &context, const Inst &inst, uint32_t mask,
    const uint64_t (&addresses)[warpLanes], unsigned bytes, AccessKind kind) {
  if (!context.counts())
    return;
  Statistics &statistics = context.launch.statistics;
  uint64_t total =
      uint64_t(bytes) * static_cast<unsigned>(__builtin_popcount(mask));
  statistics.shared.readBytes += reads(kind) ? total : 0;
  statistics.shared.writtenBytes += writes(kind) ? total : 0;
  unsigned words = std::max(1u, bytes / 4);
  unsigned lanes = std::max(1u, wavefrontBytes / (4 * words));
  uint32_t group = lanes >= warpLanes ? UINT32_MAX : (1u << lanes) - 1;
  BankTraffic traffic;
  for (unsigned first = 0; first < warpLanes; first += lanes) {
    uint32_t together = mask & group << first;
    if (!together)
      continue;
    unsigned count = passes(addresses, together, words);
    traffic.wavefronts += count;
    traffic.conflicts += count - 1;
  }
  statistics.banks += traffic;
  statistics.banksByClass[size_t(inst.cls)] += traffic;
  context.launch.banks[context.instIndex(inst)] += traffic;
}

static void addSectors(Traffic &traffic, uint64_t bytes, AccessKind kind) {
  if (reads(kind))
    traffic.readSectorBytes += bytes;
  if (writes(kind))
    traffic.writtenSectorBytes += bytes;
}

void attn::runtime::emulator::countGlobal(
    Context &context, uint32_t mask, const uint64_t (&addresses)[warpLanes],
    unsigned bytes, AccessKind kind) {
  if (!context.counts())
    return;
  uint64_t sectors[warpLanes];
  unsigned count = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    sectors[count++] = addresses[firstLane(rest)] / sectorBytes;
  Traffic &global = context.launch.statistics.global;
  global.readBytes += reads(kind) ? count * bytes : 0;
  global.writtenBytes += writes(kind) ? count * bytes : 0;
  std::sort(sectors, sectors + count);
  uint64_t moved =
      static_cast<uint64_t>(std::unique(sectors, sectors + count) - sectors) *
      std::max(1u, bytes / sectorBytes) * sectorBytes;
  addSectors(global, moved, kind);
  Allocation *allocation =
      context.launch.memory.find(addresses[firstLane(mask)], 1);
  if (allocation)
    addSectors(allocation->traffic, moved, kind);
}

void attn::runtime::emulator::countTraffic(
    Context &context, const Inst &inst, ptx::Space space,
    const uint64_t (&addresses)[warpLanes], unsigned bytes, AccessKind kind) {
  uint64_t first = addresses[firstLane(context.mask)];
  if (space == ptx::Space::None)
    space = genericSpace(first, first);
  if (space == ptx::Space::Global)
    countGlobal(context, context.mask, addresses, bytes, kind);
  if (space != ptx::Space::Shared)
    return;
  uint64_t offsets[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    offsets[lane] = addresses[lane] & (windowBytes - 1);
  countShared(context, inst, context.mask, offsets, bytes, kind);
}
