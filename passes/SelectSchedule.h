//===- SelectSchedule.h - Which kernel, and why -----------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that decides. The pass stamps what is chosen here, and
// `attnc explain` and `attnc support` print it, refusals included.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_SELECTSCHEDULE_H
#define ATTN_PASSES_SELECTSCHEDULE_H

#include "dialect/attn/AttnDialect.h"

#include <optional>
#include <string>

namespace mlir::attn {

/// Bytes of a row of a panel of shared memory, whatever fills it: the widest
/// that the copy engine and wgmma swizzle, and what 8 rows of `ldmatrix` need
/// to lie in different banks.
inline constexpr int64_t kPanelBytes = 128;

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
  /// Whether query tiles see different numbers of keys.
  bool isMasked = false;

  static ScheduleQuery get(AttentionOp op, StringRef target);
};

/// A schedule that was considered and what speaks against it.
struct ScheduleRefusal {
  ScheduleAttr schedule;
  std::string reason;
};

struct ScheduleDecision {
  /// Null where nothing fits; then `refusals` or `reason` says why.
  ScheduleAttr schedule;
  /// Why this one, or why none could be considered.
  std::string reason;
  SmallVector<ScheduleRefusal> refusals;
};

/// Considers the schedules known for a problem, best first, and takes the first
/// that fits the target.
ScheduleDecision selectSchedule(MLIRContext *context,
                                const ScheduleQuery &query);

/// What of the target's limits the schedule breaks for this problem; empty if
/// nothing.
std::string checkSchedule(ScheduleAttr schedule, const ScheduleQuery &query);

/// Shared memory of a block: tiles, and barriers at the end.
int64_t getSharedBytes(ScheduleAttr schedule, const ScheduleQuery &query);

/// A guess at the registers that one thread of a worker keeps alive.
int64_t estimateRegisters(ScheduleAttr schedule, const ScheduleQuery &query);

} // namespace mlir::attn

#endif // ATTN_PASSES_SELECTSCHEDULE_H
