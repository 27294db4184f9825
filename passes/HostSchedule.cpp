//===- HostSchedule.cpp - Schedules of style host -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/HostSchedule.h"

#include "codegen/Target/TargetInfo.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::attn;

/// The tile that is taken where nobody asks for another. Rows share what
/// turning a tile of K around costs; keys are the lanes of a row's vectors.
static constexpr int64_t kRows = 32, kKeys = 32;
/// A row of a tile is one vector, and its code grows with it; tiles lie in
/// memory that is allocated once a call.
static constexpr int64_t kLargestTile = 512;

ScheduleDecision mlir::attn::selectHostSchedule(MLIRContext *context,
                                                const ScheduleQuery &query) {
  ScheduleDecision decision;
  decision.schedule = ScheduleAttr::get(
      context, Style::Host, query.target, kRows, kKeys, /*workers=*/1,
      /*query_stages=*/1, /*stages=*/1, /*registers=*/ArrayRef<int64_t>(),
      /*overlap=*/false, /*rescale_threshold=*/0, /*persistent=*/false,
      /*descending=*/false);
  decision.reason = "the one tile of the host; any other gives the same result "
                    "up to rounding";
  return decision;
}

std::string mlir::attn::checkHostSchedule(ScheduleAttr schedule) {
  const TargetInfo *target = lookupTarget(schedule.getTarget());
  if (!target || !target->isHost())
    return llvm::formatv("style host needs target host, but got {0}",
                         schedule.getTarget());
  for (int64_t extent : {schedule.getRows(), schedule.getKeys()})
    if (extent > kLargestTile)
      return llvm::formatv("expected at most {0} rows and keys, but got {1}",
                           kLargestTile, extent);
  // What a thread on a CPU has no use for would be accepted and ignored.
  if (schedule.getQueryStages() != 1 || schedule.getStages() != 1 ||
      !schedule.getRegisters().empty() || schedule.getOverlap() ||
      schedule.getRescaleThreshold() != 0 || schedule.getPersistent() ||
      schedule.getDescending())
    return "expected one stage each, no registers, overlap or rescale "
           "threshold, and neither persistent nor descending, in style host";
  return {};
}
