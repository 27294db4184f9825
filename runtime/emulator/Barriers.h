//===- Barriers.h - mbarriers and what completes on them --------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_BARRIERS_H
#define ATTN_RUNTIME_EMULATOR_BARRIERS_H

#include "runtime/emulator/Machine.h"

namespace attn::runtime::emulator {

/// The mbarrier at a shared address, or null after a fault.
Mbarrier *findMbarrier(Context &context, const Inst &inst, int lane,
                       uint64_t address);

/// Like findMbarrier, for a copy that will complete there: its initialisation
/// must be visible to the async proxy.
Mbarrier *findMbarrierForCopy(Context &context, const Inst &inst, int lane,
                              uint64_t address);

/// `bytes` of a copy that was issued in `phase` have arrived. False after a
/// fault.
bool completeBytes(Context &context, const Inst &inst, uint32_t address,
                   uint32_t phase, int64_t bytes);

/// An arrival by the program (or by cp.async.mbarrier.arrive); what it
/// publishes comes before. False after a fault.
bool arrive(Context &context, const Inst &inst, int lane, uint32_t address,
            uint32_t count, int64_t expected);

/// Adds what lanes publish to what an mbarrier's phase collects. What the lanes
/// have in common is added once.
class Publisher {
public:
  explicit Publisher(const Warp &warp) : warp_(warp) {}
  void add(Mbarrier &barrier, unsigned lane);

private:
  const Warp &warp_;
  const Mbarrier *last_ = nullptr;
  uint32_t phase_ = 0;
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_BARRIERS_H
