//===- Traffic.h - Counts what an access moves ------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_TRAFFIC_H
#define ATTN_RUNTIME_EMULATOR_TRAFFIC_H

#include "runtime/emulator/Check.h"

namespace attn::runtime::emulator {

/// Of one warp instruction whose lanes each access `bytes` bytes.
void countTraffic(Context &context, ptx::Space space,
                  const uint64_t (&addresses)[warpLanes], unsigned bytes,
                  AccessKind kind);

/// Passes over the banks of shared memory that `count` accesses of `bytes`
/// bytes take, and how many of them conflicts cost.
void countBanks(Statistics &statistics, const uint64_t *addresses,
                unsigned count, unsigned bytes);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_TRAFFIC_H
