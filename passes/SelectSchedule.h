//===- SelectSchedule.h - Which kernel, and why -----------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that decides, by the rows of a table. The pass stamps what is
// chosen here, and `attnc explain` and `attnc support` print it, refusals
// included.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_SELECTSCHEDULE_H
#define ATTN_PASSES_SELECTSCHEDULE_H

#include "passes/ScheduleTable.h"

namespace mlir::attn {

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

/// Considers the rows of a table that are meant for the style asked for and the
/// kind of tiles, and takes the first that fits problem and target.
ScheduleDecision selectSchedule(const ScheduleTable &table,
                                const ScheduleQuery &query);

} // namespace mlir::attn

#endif // ATTN_PASSES_SELECTSCHEDULE_H
