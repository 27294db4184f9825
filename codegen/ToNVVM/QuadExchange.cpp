//===- QuadExchange.cpp - Registers within a quad of lanes ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/QuadExchange.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// Lanes that differ in `bit` of their number swap: the one without it gives
/// `high` for the other's `low`.
static void swapAcross(ImplicitLocOpBuilder &b, Value hasBit, int64_t bit,
                       Value &low, Value &high) {
  Value sent = LLVM::SelectOp::create(b, hasBit, low, high);
  Value received = NVVM::ShflOp::create(
      b, b.getI32Type(), createI32(b, -1), sent, createI32(b, bit),
      createI32(b, kWarpSize - 1), NVVM::ShflKind::bfly, UnitAttr());
  low = LLVM::SelectOp::create(b, hasBit, received, low);
  high = LLVM::SelectOp::create(b, hasBit, high, received);
}

// A transposition swaps the bits of a lane with those of a register's number,
// one after the other.
void mlir::attn_gpu::exchangeInQuad(ImplicitLocOpBuilder &b,
                                    const Kernel &kernel,
                                    MutableArrayRef<Value> registers) {
  for (int64_t bit = 1; bit < kQuadSize; bit *= 2) {
    // The first column is twice the lane's number in its quad.
    Value own =
        LLVM::AndOp::create(b, kernel.firstColumn, createI32(b, 2 * bit));
    Value hasBit =
        LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, own, createI32(b, 0));
    for (int64_t i = 0; i < kQuadSize; ++i)
      if ((i & bit) == 0)
        swapAcross(b, hasBit, bit, registers[i], registers[i + bit]);
  }
}
