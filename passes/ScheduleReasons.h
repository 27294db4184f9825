//===- ScheduleReasons.h - What a schedule means for a problem --*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One sentence per decision of a schedule, with the numbers of the problem at
// hand: what `attnc explain` prints.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_SCHEDULEREASONS_H
#define ATTN_PASSES_SCHEDULEREASONS_H

#include "passes/ScheduleLimits.h"

namespace mlir::attn {

struct ScheduleReason {
  /// A field of the schedule, as it is spelled there, and its value.
  std::string field, value;
  std::string reason;
};

/// The decisions that matter for a kernel of this style and problem, in the
/// order of the fields. `schedule` must fit the problem.
SmallVector<ScheduleReason> explainSchedule(ScheduleAttr schedule,
                                            const ScheduleQuery &query);

} // namespace mlir::attn

#endif // ATTN_PASSES_SCHEDULEREASONS_H
