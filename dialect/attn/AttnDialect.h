//===- AttnDialect.h - The attn dialect -------------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_ATTNDIALECT_H
#define ATTN_DIALECT_ATTN_ATTNDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/attn/AttnDialect.h.inc"
#include "dialect/attn/AttnEnums.h.inc"
namespace mlir::attn {

/// Where a mask is asked: a query row, or a vector of rows, of one batch and
/// head, and the lengths of that sequence's queries and keys.
struct MaskPosition {
  Value row, batch, head, seqlenQ, seqlenK;
};

} // namespace mlir::attn

#include "dialect/attn/AttnInterfaces.h.inc"
#include "dialect/attn/AttnOpInterfaces.h.inc"

namespace mlir::attn {

/// What scale, scores, sums and LSE are computed in for inputs of type
/// `inputs`, an element type or a shaped type: f64 for f64, else f32.
Type getSoftmaxType(Type inputs);

/// What a schedule says where it is silent, and what passes assume of a kernel
/// without one. Fields of `#attn.schedule`, which explains them.
struct ScheduleDefaults {
  /// From here on a product of values is two, of `productColumns` at most.
  static constexpr int64_t sharedLoopColumns = 136;
  /// Of the 50 to 60 MiB of the large parts; the rest is for Q and O.
  static constexpr int64_t sectionBytes = 32 << 20;
  /// For each part of the columns all weights are computed anew, so more are
  /// faster; but with twice as many the assembler takes a tenth longer.
  static constexpr int64_t repairAccumulators = 32;
  static constexpr int64_t repairKeys = 16;
  static constexpr int64_t productColumns = 128;
  static constexpr bool spillIndices = true;
  static constexpr bool unroll = false;
  static constexpr bool reduceStrength = false;
};

} // namespace mlir::attn

#define GET_ATTRDEF_CLASSES
#include "dialect/attn/AttnAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialect/attn/AttnOps.h.inc"

namespace mlir::attn {

/// Discardable attribute of a kernel: the schedule that it was tiled with.
/// Passes leave a kernel without one alone.
inline constexpr llvm::StringLiteral kScheduleAttr = "attn.schedule";

} // namespace mlir::attn

#endif // ATTN_DIALECT_ATTN_ATTNDIALECT_H
