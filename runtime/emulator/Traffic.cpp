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

void attn::runtime::emulator::countBanks(Statistics &statistics,
                                         const uint64_t *addresses,
                                         unsigned count, unsigned bytes) {
  unsigned words = std::max(1u, bytes / 4);
  // Wide accesses go through in groups of lanes that can fill all banks.
  unsigned group = std::max(1u, wavefrontBytes / (4 * words));
  for (unsigned first = 0; first < count; first += group) {
    // Distinct words of each bank; the same word is a broadcast.
    uint64_t seen[bankCount][warpLanes];
    unsigned used[bankCount] = {};
    unsigned most = 1;
    for (unsigned i = first; i < std::min(count, first + group); ++i)
      for (unsigned w = 0; w < words; ++w) {
        uint64_t word = addresses[i] / 4 + w;
        unsigned bank = word % bankCount;
        bool known = std::find(seen[bank], seen[bank] + used[bank], word) !=
                     seen[bank] + used[bank];
        if (known)
          continue;
        seen[bank][used[bank]++] = word;
        most = std::max(most, used[bank]);
      }
    statistics.sharedWavefronts += most;
    statistics.sharedConflicts += most - 1;
  }
}

static void addSectors(Traffic &traffic, uint64_t bytes, AccessKind kind) {
  if (reads(kind))
    traffic.readSectorBytes += bytes;
  if (writes(kind))
    traffic.writtenSectorBytes += bytes;
}

void attn::runtime::emulator::countTraffic(
    Context &context, ptx::Space space, const uint64_t (&addresses)[warpLanes],
    unsigned bytes, AccessKind kind) {
  Statistics &statistics = context.launch.statistics;
  uint64_t active[warpLanes];
  unsigned count = 0;
  for (uint32_t rest = context.mask; rest; rest &= rest - 1)
    active[count++] = addresses[firstLane(rest)];
  if (space == ptx::Space::None)
    space = genericSpace(active[0], active[0]);
  if (space == ptx::Space::Shared) {
    for (unsigned i = 0; i < count; ++i)
      active[i] &= windowBytes - 1;
    Traffic &shared = statistics.shared;
    shared.readBytes += reads(kind) ? count * bytes : 0;
    shared.writtenBytes += writes(kind) ? count * bytes : 0;
    countBanks(statistics, active, count, bytes);
    return;
  }
  if (space != ptx::Space::Global)
    return;
  Traffic &global = statistics.global;
  global.readBytes += reads(kind) ? count * bytes : 0;
  global.writtenBytes += writes(kind) ? count * bytes : 0;
  Allocation *allocation = context.launch.memory.find(active[0], 1);
  for (unsigned i = 0; i < count; ++i)
    active[i] /= sectorBytes;
  std::sort(active, active + count);
  uint64_t sectors =
      static_cast<uint64_t>(std::unique(active, active + count) - active) *
      std::max(1u, bytes / sectorBytes);
  addSectors(global, sectors * sectorBytes, kind);
  if (allocation)
    addSectors(allocation->traffic, sectors * sectorBytes, kind);
}
