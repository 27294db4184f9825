//===- QuickMemory.h - Loads and stores without checks ----------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_QUICKMEMORY_H
#define ATTN_RUNTIME_EMULATOR_QUICKMEMORY_H

#include "runtime/emulator/Machine.h"

namespace attn::runtime::emulator {

/// Does a weak load or store whose lanes all stay within one allocation or
/// space. False, with nothing done, for any other: then the general one says
/// what is wrong, or does it.
bool loadQuickly(Context &context, const Inst &inst,
                 const uint64_t (&addresses)[warpLanes]);
bool storeQuickly(Context &context, const Inst &inst,
                  const uint64_t (&addresses)[warpLanes]);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_QUICKMEMORY_H
