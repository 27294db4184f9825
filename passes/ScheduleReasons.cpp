//===- ScheduleReasons.cpp - What a schedule means for a problem ----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/ScheduleReasons.h"

#include "codegen/Target/TargetInfo.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// Collects the sentences, some fields at a time.
class Explainer {
public:
  Explainer(ScheduleAttr schedule, const ScheduleQuery &query)
      : schedule(schedule), query(query),
        isFA3(schedule.getStyle() == Style::FA3) {}

  SmallVector<ScheduleReason> explain();

private:
  template <typename... Args>
  void add(StringRef field, std::string value, const char *format,
           Args &&...args) {
    reasons.push_back({field.str(), std::move(value),
                       llvm::formatv(format, std::forward<Args>(args)...)});
  }
  template <typename... Args>
  void addNumber(StringRef field, int64_t value, const char *format,
                 Args &&...args) {
    add(field, std::to_string(value), format, std::forward<Args>(args)...);
  }
  void addFlag(StringRef field, bool value, const char *ifTrue,
               const char *ifFalse) {
    add(field, value ? "true" : "false", value ? ifTrue : ifFalse);
  }

  void explainTile();
  void explainMemory();
  void explainRegisters();
  void explainOrder();
  void explainLoops();
  void explainRepair();
  void explainProducts();
  void explainCode();

  ScheduleAttr schedule;
  const ScheduleQuery &query;
  bool isFA3;
  SmallVector<ScheduleReason> reasons;
};

} // namespace

void Explainer::explainTile() {
  switch (schedule.getStyle()) {
  case Style::Host:
    add("style", "host", "the CPU computes tiles row by row");
    break;
  case Style::FA2:
    add("style", "fa2", "mma.sync and cp.async; all threads copy and compute");
    break;
  case Style::FA3:
    add("style", "fa3", "wgmma and TMA; one warpgroup copies, others compute");
    break;
  }
  addNumber("rows", schedule.getRows(),
            "every byte of K and V that a block reads serves {0} query rows",
            schedule.getRows());
  addNumber("keys", schedule.getKeys(),
            "scores of one worker are {0} x {1} at a time",
            schedule.getRowsPerWorker(), schedule.getKeys());
  addNumber("workers", schedule.getWorkers(), "{0} of {1} rows each",
            isFA3                                ? "warpgroups"
            : schedule.getStyle() == Style::Host ? "parts"
                                                 : "warps",
            schedule.getRowsPerWorker());
}

void Explainer::explainMemory() {
  addNumber("query_stages", schedule.getQueryStages(),
            schedule.getQueryStages() == 1
                ? "the next tile of Q is read when this one is done"
                : "the next tile of Q arrives while this one is worked on");
  addNumber("stages", schedule.getStages(),
            "tiles of K, and of V, in flight; with all tiles and barriers {0} "
            "bytes of shared memory",
            getSharedBytes(schedule, query));
}

void Explainer::explainRegisters() {
  int64_t needed = estimateRegisters(schedule, query);
  if (isFA3)
    add("registers",
        llvm::formatv("[{0}, {1}]", schedule.getRegisters()[0],
                      schedule.getRegisters()[1]),
        "the producer hands over what it does not need; a consumer needs "
        "about {0}",
        needed);
  addFlag("overlap", schedule.getOverlap(),
          "scores of the next tile are computed under the softmax of this one",
          "scores, softmax and values of a tile follow each other");
  int64_t threshold = schedule.getRescaleThreshold();
  addNumber("rescale_threshold", threshold,
            threshold == 0
                ? "accumulators are rescaled whenever a maximum grows"
                : "accumulators are rescaled when a maximum grew by more, so "
                  "weights stay below 2^{0}",
            threshold);
}

void Explainer::explainOrder() {
  addFlag("persistent", schedule.getPersistent(),
          "one block per multiprocessor walks many tiles and prepares the next "
          "under the last products of this one",
          "a block per tile, handed to whichever multiprocessor is free");
  addFlag("descending", schedule.getDescending(),
          "tiles see different numbers of keys, and the longest go first",
          "tiles go in the order of their rows");
  if (schedule.getDescending())
    addNumber("section_bytes", schedule.getSectionBytes(),
              "heads whose K and V take no more are worked on together and "
              "stay in the second-level cache");
}

void Explainer::explainLoops() {
  int64_t columns = query.headDimVO;
  int64_t limit = schedule.getSharedLoopColumns();
  addNumber("shared_loop_columns", limit,
            columns < limit
                ? "accumulators have {0} columns, fewer: the first tile, "
                  "partial and full ones have code of their own"
                : "accumulators have {0} columns, no fewer: the first tile, "
                  "partial and full ones share a loop, which assembles faster",
            columns);
}

void Explainer::explainRepair() {
  addNumber("repair_accumulators", schedule.getRepairAccumulators(),
            "of {0} columns of a row that a hidden NaN spoilt, as many are "
            "computed again at a time as take so many accumulators of a thread",
            query.headDimVO);
  addNumber("repair_keys", schedule.getRepairKeys(),
            "and by so many keys at a time");
}

void Explainer::explainProducts() {
  int64_t columns = schedule.getProductColumns();
  addNumber("product_columns", columns,
            "{0} columns of values are {1} products: wide ones assemble slower",
            query.headDimVO, llvm::divideCeilSigned(query.headDimVO, columns));
  int64_t steps = query.getColumnsQK() / kInnerStep;
  int64_t kept = std::min(schedule.getNumKeptDescriptors(), steps);
  addNumber("kept_descriptors", kept,
            "of the {0} of a tile of Q, which is what {1} registers leave room "
            "for",
            steps, schedule.getRegisters()[1]);
}

void Explainer::explainCode() {
  if (!isFA3)
    addFlag("spill_indices", spillsIndices(schedule),
            "indices wait in shared memory while the key loops need every "
            "register",
            "indices stay in registers during the key loops");
  addFlag("unroll", schedule.getUnroll(),
          "the assembler may unroll loops that are not key loops",
          "loops that are not key loops do not pay for the time that "
          "unrolling them takes the assembler");
  addFlag("reduce_strength", schedule.getReduceStrength(),
          "a loop may carry a variable per address",
          "each variable that a loop carries is a register less");
}

SmallVector<ScheduleReason> Explainer::explain() {
  explainTile();
  if (schedule.getStyle() == Style::Host)
    return std::move(reasons);
  explainMemory();
  explainRegisters();
  explainOrder();
  explainLoops();
  if (query.isMasked)
    explainRepair();
  if (isFA3)
    explainProducts();
  explainCode();
  return std::move(reasons);
}

SmallVector<ScheduleReason>
mlir::attn::explainSchedule(ScheduleAttr schedule, const ScheduleQuery &query) {
  return Explainer(schedule, query).explain();
}
