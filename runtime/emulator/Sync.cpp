//===- Sync.cpp - Release and acquire through memory ----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Sync.h"
#include "runtime/emulator/Check.h"

using namespace attn::runtime::emulator;

static void joinAll(BlockClocks &into, const BlockClocks &from) {
  for (const auto &[block, clock] : from)
    into[block].join(clock);
}

/// All that the warp knows, as others will read it.
static BlockClocks snapshot(const Context &context) {
  BlockClocks result = context.warp.foreign;
  result[context.block.linear].join(context.warp.known.seen);
  return result;
}

static void takeOver(Context &context, const BlockClocks &clocks) {
  for (const auto &[block, clock] : clocks) {
    if (block == context.block.linear)
      context.warp.known.seen.join(clock);
    else
      context.warp.foreign[block].join(clock);
  }
}

uint64_t attn::runtime::emulator::syncKey(const Context &context,
                                          ptx::Space space, uint64_t address) {
  if (space == ptx::Space::None)
    space = genericSpace(address, address);
  if (space != ptx::Space::Shared)
    return address;
  return sharedWindow + (uint64_t(context.block.linear) << 24) + address;
}

void attn::runtime::emulator::publish(Context &context, uint64_t key,
                                      Ordering ordering) {
  if (!context.checks() || ordering == Ordering::Weak)
    return;
  Warp &warp = context.warp;
  if (ordering == Ordering::Release || ordering == Ordering::AcquireRelease) {
    joinAll(context.launch.releases[key], snapshot(context));
    nextEpoch(warp);
  } else if (!warp.fencedClocks.empty()) {
    joinAll(context.launch.releases[key], warp.fencedClocks);
  }
}

void attn::runtime::emulator::observe(Context &context, uint64_t key,
                                      Ordering ordering) {
  if (!context.checks() || ordering == Ordering::Weak)
    return;
  auto it = context.launch.releases.find(key);
  if (it == context.launch.releases.end())
    return;
  if (ordering == Ordering::Acquire || ordering == Ordering::AcquireRelease)
    takeOver(context, it->second);
  else
    joinAll(context.warp.acquired, it->second);
}

void attn::runtime::emulator::fence(Context &context) {
  if (!context.checks())
    return;
  Warp &warp = context.warp;
  takeOver(context, warp.acquired);
  warp.acquired.clear();
  warp.fencedClocks = snapshot(context);
  nextEpoch(warp);
}
