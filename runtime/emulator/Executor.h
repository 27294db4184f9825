//===- Executor.h - What instructions ask of the executor -------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_EXECUTOR_H
#define ATTN_RUNTIME_EMULATOR_EXECUTOR_H

#include "runtime/emulator/Machine.h"

namespace attn::runtime::emulator {

/// Sends the lanes of `taken` to `target`, the rest of the fragment to the
/// next instruction.
Step branch(Context &context, const Inst &inst, uint32_t taken,
            uint32_t target);

/// Sends each lane of the mask to its target.
Step branchIndexed(Context &context, const Inst &inst,
                   const uint32_t (&targets)[warpLanes]);

/// The fragment stands at its join's pc: it waits there, or goes on as one with
/// those that it waited for.
void arriveAtJoin(Warp &warp, Fragment &fragment);

/// The lanes of `mask` end.
void endLanes(Warp &warp, Fragment &fragment, uint32_t mask);

/// Lets the lanes that wait at joins go on by themselves; true if there were
/// any.
bool breakJoins(Block &block);

/// Puts the context's fragment to sleep; the caller returns Wait or Retry.
void sleep(Context &context, Wait wait, uint64_t key);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_EXECUTOR_H
