//===- OpLimits.h - What no schedule makes possible ------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A verified op may still be one that is not served, whatever the schedule.
// `attn-select-schedule` refuses it, located at the op, and front ends ask here
// first, for messages of their own.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_OPLIMITS_H
#define ATTN_PASSES_OPLIMITS_H

#include "dialect/attn/AttnDialect.h"

#include <string>
#include <vector>

namespace mlir::attn {

/// Sizes and constants that no attention has: one message each.
std::vector<std::string> listInvalidValues(AttentionOp op);

/// Element types that kernels, or the host, do not compute in.
std::vector<std::string> listUnservedTypes(AttentionOp op, bool isHost);

/// Where the columns of tensors may lie.
enum class Columns {
  /// Beside each other.
  Dense,
  /// There too, which a launch checks where the type does not say.
  DenseAtLaunch,
  /// Any distance apart.
  Strided,
};

/// Memory that generated code would get wrong: another space, elements that no
/// strides place, columns apart.
std::vector<std::string> listUnservedOperands(AttentionOp op, Columns columns);

} // namespace mlir::attn

#endif // ATTN_PASSES_OPLIMITS_H
