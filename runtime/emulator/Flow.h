//===- Flow.h - Where lanes meet again, and which registers live -*- C++
//-*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_FLOW_H
#define ATTN_RUNTIME_EMULATOR_FLOW_H

#include "runtime/emulator/Program.h"

namespace attn::runtime::emulator {

/// Sets Inst::join of every branch to its immediate post-dominator, and
/// Inst::liveRegisters of every instruction.
void analyzeFlow(Program &program);

/// Bits of Inst::flags that the analyses read.
enum FlowFlags : uint32_t {
  /// `bra`, `brx`: goes to `target` or one of `targets`.
  IsBranch = 1u << 31,
  /// Nothing follows: `ret`, `exit`, `trap`, an unconditional branch.
  EndsFlow = 1u << 30,
  /// `bra.uni`.
  IsUniform = 1u << 29,
  /// A wgmma: its 32-bit registers are watched while it is in flight.
  TracksRegisters = 1u << 28,
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_FLOW_H
