//===- ScheduleLimits.h - What a target can hold ----------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a schedule can be carried out for a problem, and what speaks against
// it. Nothing here prefers one schedule to another.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_SCHEDULELIMITS_H
#define ATTN_PASSES_SCHEDULELIMITS_H

#include "dialect/attn/AttnDialect.h"

#include "llvm/Support/MathExtras.h"

#include <optional>
#include <string>

namespace mlir::attn {

/// Bytes of a row of a panel of shared memory, whatever fills it: the widest
/// that the copy engine and wgmma swizzle, and what 8 rows of `ldmatrix` need
/// to lie in different banks.
inline constexpr int64_t kPanelBytes = 128;

/// Inner extents of products are stored, and multiplied, in steps of these.
inline constexpr int64_t kInnerStep = 16;

/// What of a problem a schedule depends on.
struct ScheduleQuery {
  std::string target;
  /// The family asked for; none: the one that suits the target best.
  std::optional<Style> style;
  /// Bits of an element of Q, K and V.
  int64_t elementBits = 16;
  /// The largest exponent of an element: of f16, if nothing is known.
  int64_t elementExponent = 15;
  int64_t headDimQK = 0;
  int64_t headDimVO = 0;
  /// Where the problem pins it.
  std::optional<int64_t> seqlenK;
  /// Whether query tiles see different numbers of keys.
  bool isMasked = false;

  static ScheduleQuery get(AttentionOp op, StringRef target);

  /// What the choice of a tile goes by.
  int64_t getHeadDim() const { return std::max(headDimQK, headDimVO); }
  /// Columns of a tile of Q and K; those of V and O are not padded.
  int64_t getColumnsQK() const { return llvm::alignTo(headDimQK, kInnerStep); }
};

/// What of the target's limits the schedule breaks for this problem; empty if
/// nothing.
std::string checkSchedule(ScheduleAttr schedule, const ScheduleQuery &query);

/// Whether indices wait in shared memory. Not in style fa3, where registers are
/// given out to warpgroups.
bool spillsIndices(ScheduleAttr schedule);

/// Shared memory of a block: tiles, and barriers at the end.
int64_t getSharedBytes(ScheduleAttr schedule, const ScheduleQuery &query);

/// A guess at the registers that one thread of a worker keeps alive.
int64_t estimateRegisters(ScheduleAttr schedule, const ScheduleQuery &query);

} // namespace mlir::attn

#endif // ATTN_PASSES_SCHEDULELIMITS_H
