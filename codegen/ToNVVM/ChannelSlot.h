//===- ChannelSlot.h - One use of a ring of tiles ---------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A channel of S stages is S tiles and 2 S mbarriers: full[0..S), empty[0..S).
// Use number n of the ring is entry n mod S in its phase n div S, and a wait
// names the parity of the phase that must have completed:
//
//     consumer: full[n mod S],  parity (n div S) & 1
//     who fills: empty[n mod S], parity (n div S) & 1 ^ 1
//
// A fresh barrier is in phase 0, and a wait for the parity of the phase before
// that one returns at once: the first S waits of who fills do not block.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_CHANNELSLOT_H
#define ATTN_CODEGEN_TONVVM_CHANNELSLOT_H

#include "codegen/ToNVVM/Kernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::attn_gpu {

/// Addresses and parity of one use of a channel. Forms only what is asked for.
class Slot {
public:
  /// `channel`: the address of its tiles and of its barriers.
  Slot(ImplicitLocOpBuilder &b, ChannelType type, ValueRange channel,
       Value number)
      : b(b), type(type), channel(channel), number(number) {}

  Value getTile() { return add(channel[0], getStage(), getSlotBytes(type)); }
  Value getFull() { return add(channel[1], getStage(), kBarrierBytes); }
  Value getEmpty() {
    Value empty = LLVM::AddOp::create(
        b, channel[1], createI32(b, type.getStages() * kBarrierBytes));
    return add(empty, getStage(), kBarrierBytes);
  }
  /// What a receiver waits for, and what one who fills the slot does.
  Value getParity() {
    Value phase = type.getStages() == 1 ? number : divide();
    return LLVM::AndOp::create(b, phase, createI32(b, 1));
  }

  Value getEmptyParity() {
    return LLVM::XOrOp::create(b, getParity(), createI32(b, 1));
  }

private:
  Value divide() {
    return LLVM::UDivOp::create(b, number, createI32(b, type.getStages()));
  }
  Value getStage() {
    if (type.getStages() == 1)
      return createI32(b, 0);
    return LLVM::URemOp::create(b, number, createI32(b, type.getStages()));
  }
  Value add(Value base, Value index, int64_t scale) {
    Value offset = LLVM::MulOp::create(b, index, createI32(b, scale));
    return LLVM::AddOp::create(b, base, offset);
  }

  ImplicitLocOpBuilder &b;
  ChannelType type;
  ValueRange channel;
  Value number;
};

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_CHANNELSLOT_H
