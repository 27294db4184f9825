//===- Sync.h - What threads publish and learn ------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes are threads: an arrival or a release by one publishes what that lane
// did and knows, and a wait or an acquire teaches only the lanes that take
// part. What the lanes of a warp did, all of them know once they synchronised
// (bar.warp.sync, bar.sync); no shuffle or matrix instruction does that.
//
// A warp keeps what all its lanes know, and parts for lanes that know more.
// Where warps act as a whole there are none.
//
// Through memory: a release writes what the lane knows to an address, an
// acquire takes it over. A relaxed or volatile access (or an atomic) does its
// half together with a fence: after one it publishes what the fence saw, and
// what it reads counts from the next one on.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_SYNC_H
#define ATTN_RUNTIME_EMULATOR_SYNC_H

#include "runtime/emulator/Machine.h"

namespace attn::runtime::emulator {

/// How strongly a memory access is ordered.
enum class Ordering : uint8_t {
  Weak,
  Relaxed,
  Acquire,
  Release,
  AcquireRelease
};

/// What a lane knows of its block.
const Knowledge &knowledgeOf(const Warp &warp, uint32_t lane);
/// ... and of other blocks.
const BlockKnowledge &foreignOf(const Warp &warp, uint32_t lane);
/// Whether any lane of the warp knows that all of an epoch is over.
bool knowsOver(const Warp &warp, uint32_t agent, uint32_t lanes,
               uint32_t epoch);

/// After an operation that releases: later accesses get a new epoch.
void nextEpoch(Warp &warp);
/// The lanes learn something.
void learn(Warp &warp, uint32_t lanes, const Knowledge &known,
           const BlockKnowledge *foreign = nullptr);
/// The lanes synchronise with each other.
void joinLanes(Warp &warp, uint32_t lanes);
/// A proxy fence by the lanes, for these memories.
void fenceProxy(Warp &warp, uint32_t lanes, bool shared, bool global);
/// fence.mbarrier_init: what the lanes initialised themselves.
void fenceInit(Warp &warp, uint32_t lanes);

/// Adds what the lane publishes by an arrival, what it did included.
void publishLane(const Warp &warp, uint32_t lane, Knowledge &into);
/// Adds what is the lane's own only, where the rest is there already.
void publishOwn(const Warp &warp, uint32_t lane, Knowledge &into);
/// Adds what all lanes publish together.
void publishWarp(const Warp &warp, Knowledge &into);

/// Before a write (or the write half of an atomic) by a lane to `key`.
void publish(Context &context, uint32_t lane, uint64_t key, Ordering ordering);
/// After a read.
void observe(Context &context, uint32_t lane, uint64_t key, Ordering ordering);
/// A fence of any scope, by the lanes of the context.
void fence(Context &context);

/// The key of an address, which may be shared.
uint64_t syncKey(const Context &context, ptx::Space space, uint64_t address);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_SYNC_H
