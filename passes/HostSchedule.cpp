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

/// A row of a tile is one vector, and its code grows with it; tiles lie in
/// memory that is allocated once a call.
static constexpr int64_t kLargestTile = 512;

/// Whether a field that says something about kernels alone is given.
static bool hasChoicesOfKernels(ScheduleAttr schedule) {
  using Defaults = ScheduleDefaults;
  return schedule.getSharedLoopColumns() != Defaults::sharedLoopColumns ||
         schedule.getSectionBytes() != Defaults::sectionBytes ||
         schedule.getRepairAccumulators() != Defaults::repairAccumulators ||
         schedule.getRepairKeys() != Defaults::repairKeys ||
         schedule.getProductColumns() != Defaults::productColumns ||
         schedule.getKeptDescriptors() ||
         schedule.getSpillIndices() != Defaults::spillIndices ||
         schedule.getUnroll() != Defaults::unroll ||
         schedule.getReduceStrength() != Defaults::reduceStrength;
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
  if (hasChoicesOfKernels(schedule))
    return "expected no field with a default to have another value in style "
           "host";
  return {};
}
