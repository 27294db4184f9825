//===- ScheduleLimits.cpp - What a target can hold ------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/ScheduleLimits.h"
#include "passes/HostSchedule.h"

#include "codegen/Target/TargetInfo.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::attn;

/// Rows that one wgmma, and that one mma.sync computes.
static constexpr int64_t kRowsPerWarpgroup = 64;
static constexpr int64_t kRowsPerWarp = 16;
/// Columns of a matrix that the four threads of a row can share evenly.
static constexpr int64_t kSharedColumns = 8;
/// More of anything fits nowhere.
static constexpr int64_t kLargestFactor = 1 << 16;
/// A kernel counts in 32 bits.
static constexpr int64_t kLargestNumber = std::numeric_limits<int32_t>::max();
/// Registers besides accumulators and weights: addresses, bounds, row
/// statistics, temporaries of the softmax.
static constexpr int64_t kOtherRegisters = 32;

/// With more, f32 would have less than half its exponents left for values.
static constexpr int64_t kLargestRescaleThreshold = 32;

ScheduleQuery ScheduleQuery::get(AttentionOp op, StringRef target) {
  ScheduleQuery query;
  query.target = target.str();
  auto element = cast<FloatType>(getElementTypeOrSelf(op.getQuery()));
  query.elementBits = element.getWidth();
  query.elementExponent =
      llvm::APFloat::semanticsMaxExponent(element.getFloatSemantics());
  query.headDimQK = op.getHeadDimQK();
  query.headDimVO = op.getHeadDimVO();
  BandMaskInterface mask = op.getMaskAttr();
  query.isMasked = mask && mask.hasUnevenTiles();
  auto key = cast<ShapedType>(op.getKey().getType());
  int64_t keys = key.getDimSize(
      op.getOperandDim(AttentionOp::KeyTensor, AttentionOp::Key));
  if (!ShapedType::isDynamic(keys))
    query.seqlenK = keys;
  return query;
}

/// Bytes of a row of a tile in shared memory: whole panels.
static int64_t getRowBytes(int64_t columns, const ScheduleQuery &query) {
  return llvm::alignTo(columns * query.elementBits / 8, kPanelBytes);
}

bool mlir::attn::spillsIndices(ScheduleAttr schedule) {
  return schedule.getStyle() == Style::FA2 && schedule.getSpillIndices();
}

int64_t mlir::attn::getSharedBytes(ScheduleAttr schedule,
                                   const ScheduleQuery &query) {
  if (schedule.getStyle() == Style::Host)
    return 0;
  int64_t inner = getRowBytes(query.headDimQK, query);
  int64_t outer = getRowBytes(query.headDimVO, query);
  int64_t ring = schedule.getStages() * schedule.getKeys() * (inner + outer);
  // A full and an empty barrier of 8 bytes per slot of Q, K and V.
  int64_t barriers =
      (schedule.getQueryStages() + 2 * schedule.getStages()) * 2 * 8;
  // A worker that spills is a warp.
  int64_t parked = spillsIndices(schedule)
                       ? schedule.getWorkers() * attn_gpu::kParkedBytesPerWarp
                       : 0;
  return schedule.getQueryStages() * schedule.getRows() * inner + ring +
         barriers + parked;
}

int64_t mlir::attn::estimateRegisters(ScheduleAttr schedule,
                                      const ScheduleQuery &query) {
  if (schedule.getStyle() == Style::Host)
    return 0;
  int64_t threads = schedule.getStyle() == Style::FA3
                        ? TargetInfo::threadsPerWarpgroup
                        : TargetInfo::threadsPerWarp;
  int64_t accumulators = schedule.getRowsPerWorker() *
                         (schedule.getKeys() + query.headDimVO) / threads;
  int64_t weights = schedule.getOverlap() ? schedule.getRowsPerWorker() *
                                                schedule.getKeys() / 2 / threads
                                          : 0;
  return accumulators + weights + kOtherRegisters;
}

namespace {

/// Everything that speaks against a schedule, in one sentence.
class Reasons {
public:
  template <typename... Args>
  void add(const char *format, Args &&...args) {
    if (!text.empty())
      text += "; ";
    text += llvm::formatv(format, std::forward<Args>(args)...).str();
  }
  std::string text;
};

} // namespace

static void checkThreads(int64_t threads, const TargetInfo &target,
                         Reasons &reasons) {
  if (threads > target.threadsPerBlock)
    reasons.add("expected at most {0} threads per block, but got {1}",
                target.threadsPerBlock, threads);
}

/// Registers that a thread which computes can have, and what it is called.
static std::pair<int64_t, StringRef>
getRegisterLimit(ScheduleAttr schedule, const TargetInfo &target) {
  if (schedule.getStyle() == Style::FA3)
    return {schedule.getRegisters()[1], "consumer thread"};
  int64_t threads = schedule.getWorkers() * TargetInfo::threadsPerWarp;
  return {std::min(target.registersPerThread,
                   target.registersPerMultiprocessor / threads),
          "thread"};
}

/// The limits of roles, registers and threads.
static void checkRoles(ScheduleAttr schedule, const TargetInfo &target,
                       Reasons &reasons) {
  if (schedule.getRowsPerWorker() != kRowsPerWarpgroup)
    reasons.add("expected {0} rows per warpgroup, but got {1}",
                kRowsPerWarpgroup, schedule.getRowsPerWorker());
  int64_t threads =
      (schedule.getWorkers() + 1) * TargetInfo::threadsPerWarpgroup;
  checkThreads(threads, target, reasons);
  if (!target.setmaxnreg)
    return;
  // The pool is what the threads have at launch, not the whole register file.
  int64_t atLaunch = llvm::alignDown(
      target.registersPerMultiprocessor / threads, target.registerBudgetStep);
  int64_t pool = atLaunch * threads;
  int64_t wanted = TargetInfo::threadsPerWarpgroup *
                   (schedule.getRegisters()[0] +
                    schedule.getWorkers() * schedule.getRegisters()[1]);
  if (wanted > pool)
    reasons.add("expected at most {0} registers per block, but got {1}", pool,
                wanted);
  for (int64_t registers : schedule.getRegisters())
    if (registers < target.minRegisterBudget ||
        registers > target.maxRegisterBudget ||
        registers % target.registerBudgetStep != 0)
      reasons.add("expected registers from {0} to {1} in steps of {2}, but got "
                  "{3}",
                  target.minRegisterBudget, target.maxRegisterBudget,
                  target.registerBudgetStep, registers);
  // setmaxnreg.inc takes no fewer, setmaxnreg.dec no more than there are.
  int64_t ofThread = std::min(atLaunch, target.registersPerThread);
  int64_t producer = schedule.getRegisters()[0];
  int64_t consumer = schedule.getRegisters()[1];
  if (producer > ofThread || consumer < ofThread)
    reasons.add("expected the producer to have at most, and a consumer at "
                "least, the {0} registers of a thread at launch, but got {1} "
                "and {2}",
                ofThread, producer, consumer);
}

/// How wgmma may read its operands.
static void checkProducts(ScheduleAttr schedule, const ScheduleQuery &query,
                          const TargetInfo &target, Reasons &reasons) {
  const MatmulShape &shape = target.wgmmaShape;
  // A product starts at the start of a panel of V.
  int64_t panel = kPanelBytes * 8 / query.elementBits;
  int64_t columns = schedule.getProductColumns();
  if (columns % panel != 0 || columns > shape.maxN)
    reasons.add("expected product_columns to be a multiple of {0} up to {1}, "
                "but got {2}",
                panel, shape.maxN, columns);
  if (!schedule.getSpillIndices())
    reasons.add("expected spill_indices = true in style fa3, where registers "
                "are given out, but got false");
}

/// What wgmma, the copy engine and roles can do.
static void checkFA3(ScheduleAttr schedule, const ScheduleQuery &query,
                     const TargetInfo &target, Reasons &reasons) {
  if (!target.wgmma || !target.tma)
    reasons.add("style fa3 needs wgmma and tma, which {0} lacks",
                schedule.getTarget());
  const MatmulShape &shape = target.wgmmaShape;
  for (int64_t columns : {schedule.getKeys(), query.headDimVO})
    if (target.wgmma && !shape.allowsN(columns))
      reasons.add("expected keys and the head dim of V to be from {0} to {1} "
                  "in steps of {2}, but got {3}",
                  shape.minN, shape.maxN, shape.stepN, columns);
  checkRoles(schedule, target, reasons);
  if (target.wgmma)
    checkProducts(schedule, query, target, reasons);
  int64_t box = std::max(schedule.getRows(), schedule.getKeys());
  if (target.tma && box > target.maxBoxExtent)
    reasons.add("expected at most {0} rows or keys per copy, but got {1}",
                target.maxBoxExtent, box);
}

/// What mma.sync and cp.async can do.
static void checkFA2(ScheduleAttr schedule, const ScheduleQuery &query,
                     const TargetInfo &target, Reasons &reasons) {
  if (!target.mma.exists() || !target.cpAsync)
    reasons.add("style fa2 needs mma.sync and cp.async, which {0} lacks",
                schedule.getTarget());
  if (schedule.getRowsPerWorker() % kRowsPerWarp != 0)
    reasons.add("expected a multiple of {0} rows per warp, but got {1}",
                kRowsPerWarp, schedule.getRowsPerWorker());
  if (schedule.getOverlap() && schedule.getStages() < 2)
    reasons.add("overlap needs 2 stages, since the values of a tile are read "
                "beside the scores of the next");
  // What mma.sync has no use for would be accepted and ignored.
  if (schedule.getProductColumns() != ScheduleDefaults::productColumns ||
      schedule.getKeptDescriptors())
    reasons.add("expected neither product_columns nor kept_descriptors in "
                "style fa2");
  checkThreads(schedule.getWorkers() * TargetInfo::threadsPerWarp, target,
               reasons);
}

/// How rows are computed again: by whole fragments of keys.
static void checkRepair(ScheduleAttr schedule, Reasons &reasons) {
  int64_t largest =
      std::max(schedule.getRepairAccumulators(), schedule.getRepairKeys());
  if (largest > kLargestFactor)
    reasons.add("expected repair_accumulators and repair_keys to be at most "
                "{0}, but got {1}",
                kLargestFactor, largest);
  if (schedule.getRepairKeys() % kSharedColumns != 0)
    reasons.add("expected repair_keys to be a multiple of {0}, but got {1}",
                kSharedColumns, schedule.getRepairKeys());
}

std::string mlir::attn::checkSchedule(ScheduleAttr schedule,
                                      const ScheduleQuery &query) {
  Reasons reasons;
  const TargetInfo *target = lookupTarget(schedule.getTarget());
  if (!target) {
    reasons.add("expected a known target, but got {0}", schedule.getTarget());
    return reasons.text;
  }
  if (schedule.getStyle() == Style::Host)
    return checkHostSchedule(schedule);
  // Before they are multiplied, so that no product overflows.
  for (int64_t factor :
       {schedule.getRows(), schedule.getKeys(), schedule.getWorkers(),
        schedule.getQueryStages(), schedule.getStages(), query.headDimQK,
        query.headDimVO})
    if (factor > kLargestFactor) {
      reasons.add("expected rows, keys, workers, stages and head dims to be at "
                  "most {0}, but got {1}",
                  kLargestFactor, factor);
      return reasons.text;
    }
  if (schedule.getSectionBytes() > kLargestNumber)
    reasons.add("expected section_bytes to be at most {0}, but got {1}",
                kLargestNumber, schedule.getSectionBytes());
  if (query.elementBits != 16)
    reasons.add("expected 16-bit elements, but got {0} bits",
                query.elementBits);
  // Weights reach 2 to that power before the reference moves.
  int64_t largest = std::min(query.elementExponent, kLargestRescaleThreshold);
  if (schedule.getRescaleThreshold() > largest)
    reasons.add("expected a rescale_threshold of at most {0}, so that weights "
                "and their sums stay finite, but got {1}",
                largest, schedule.getRescaleThreshold());
  if (schedule.getKeys() % kInnerStep != 0)
    reasons.add("expected keys to be a multiple of {0}, but got {1}",
                kInnerStep, schedule.getKeys());
  if (schedule.getStyle() == Style::FA3)
    checkFA3(schedule, query, *target, reasons);
  else
    checkFA2(schedule, query, *target, reasons);
  checkRepair(schedule, reasons);
  int64_t shared = getSharedBytes(schedule, query);
  if (shared > target->sharedBytesPerBlock)
    reasons.add("expected at most {0} bytes of shared memory, but got {1}",
                target->sharedBytesPerBlock, shared);
  auto [limit, thread] = getRegisterLimit(schedule, *target);
  int64_t registers = estimateRegisters(schedule, query);
  if (registers > limit)
    reasons.add("expected at most {0} registers per {1}, but got about {2}",
                limit, thread, registers);
  return reasons.text;
}
