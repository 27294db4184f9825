//===- QuadExchange.h - Registers within a quad of lanes --------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_QUADEXCHANGE_H
#define ATTN_CODEGEN_TONVVM_QUADEXCHANGE_H

#include "codegen/ToNVVM/Kernel.h"

namespace mlir::attn_gpu {

/// Lanes that share a row of a fragment; see FragmentLayout.h.
inline constexpr int64_t kQuadSize = 4;

/// Transposes the registers of a quad, all i32, one per lane and number: lane l
/// gets as register i what lane i had as register l. All lanes must take part.
///
///     lane:     0   1   2   3              0   1   2   3
///     register  a0  b0  c0  d0             a0  a1  a2  a3
///               a1  b1  c1  d1      ->     b0  b1  b2  b3
///               a2  b2  c2  d2             c0  c1  c2  c3
///               a3  b3  c3  d3             d0  d1  d2  d3
///
/// Where register i is two neighbours of columns [8i, 8i + 8), lane l then has
/// columns [8l, 8l + 8) in order.
void exchangeInQuad(ImplicitLocOpBuilder &b, const Kernel &kernel,
                    MutableArrayRef<Value> registers);

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_QUADEXCHANGE_H
