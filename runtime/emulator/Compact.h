//===- Compact.h - Fewer registers for a kernel -----------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX has a register for every value: some 250 KB a warp, more than a cache
// holds. Values that never live at the same time can share a place. For runs
// without checks only: the checks know registers by their places.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_COMPACT_H
#define ATTN_RUNTIME_EMULATOR_COMPACT_H

#include "runtime/emulator/Program.h"

namespace attn::runtime::emulator {

/// Gives the registers new places. What may be read before it is written keeps
/// one of its own, so that it still reads as zero.
void compactRegisters(Program &program);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_COMPACT_H
