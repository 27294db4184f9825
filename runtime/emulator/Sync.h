//===- Sync.h - Release and acquire through memory --------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A release writes what the warp knows to an address, an acquire takes it
// over. A relaxed or volatile access (or an atomic) does its half together
// with a fence: after one it publishes what the fence saw, and what it reads
// counts from the next one on.
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

/// Before a write (or the write half of an atomic) to `key`.
void publish(Context &context, uint64_t key, Ordering ordering);
/// After a read.
void observe(Context &context, uint64_t key, Ordering ordering);
/// A fence of any scope.
void fence(Context &context);

/// The key of an address, which may be shared.
uint64_t syncKey(const Context &context, ptx::Space space, uint64_t address);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_SYNC_H
