//===- CpAsync.h - cp.async without .bulk -----------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_CPASYNC_H
#define ATTN_RUNTIME_EMULATOR_CPASYNC_H

#include "runtime/emulator/Decode.h"

namespace attn::runtime::emulator {

/// What follows `cp.async`, unless it is `.bulk`.
bool decodeCpAsync(Decoder &decoder, Inst &inst);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_CPASYNC_H
