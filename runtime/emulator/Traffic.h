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
void countTraffic(Context &context, const Inst &inst, ptx::Space space,
                  const uint64_t (&addresses)[warpLanes], unsigned bytes,
                  AccessKind kind);

/// The same for lanes of `mask` in global memory. (Bytes of an allocation are
/// counted lane by lane, by whoever finds it.)
void countGlobal(Context &context, uint32_t mask,
                 const uint64_t (&addresses)[warpLanes], unsigned bytes,
                 AccessKind kind);

/// The same in shared memory: also the passes over its banks. Lanes are served
/// together as long as they can fill all banks at most once: 32 lanes of 4
/// bytes, 16 of 8, 8 of 16.
void countShared(Context &context, const Inst &inst, uint32_t mask,
                 const uint64_t (&addresses)[warpLanes], unsigned bytes,
                 AccessKind kind);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_TRAFFIC_H
