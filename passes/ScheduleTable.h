//===- ScheduleTable.h - The schedules that are tried -----------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table is a module of `attn.tuned`: schedules.mlir, which is built in, or
// a user's.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_SCHEDULETABLE_H
#define ATTN_PASSES_SCHEDULETABLE_H

#include "passes/ScheduleLimits.h"

namespace mlir::attn {

/// What `attn.tuned` says.
struct ScheduleRow {
  SmallVector<std::string> targets;
  int64_t minHeadDim, maxHeadDim;
  std::optional<bool> uneven;
  std::optional<std::pair<int64_t, int64_t>> seqlenK;
  int64_t blocks;
  ScheduleAttr schedule;
  /// What speaks for it, with device and day where it was measured.
  std::string evidence;

  bool hasTarget(StringRef target) const {
    return llvm::is_contained(targets, target);
  }
  /// The schedule for `target`.
  ScheduleAttr getSchedule(StringRef target) const;
};

class ScheduleTable {
public:
  /// Reads and checks the table in `path`, or the one that is built in where
  /// that is empty. Errors are diagnostics, where they are in the file.
  static FailureOr<ScheduleTable> read(MLIRContext *context, StringRef path);

  ArrayRef<ScheduleRow> getRows() const { return rows; }

private:
  SmallVector<ScheduleRow, 0> rows;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_SCHEDULETABLE_H
