//===- SelectSchedule.cpp - attn-select-schedule --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/SelectSchedule.h"
#include "passes/HostSchedule.h"
#include "passes/Passes.h"

#include "codegen/Target/TargetInfo.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSELECTSCHEDULEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

namespace {

/// A tile worth trying, for head dims up to `headDim`.
struct Candidate {
  int64_t headDim;
  int64_t rows, keys, workers, queryStages, stages;
  bool overlap;
  /// Whether one block walks many tiles, where they are of one length and where
  /// a mask makes them differ.
  bool persistent, maskedPersistent;
  /// Blocks that a multiprocessor must have shared memory for.
  int64_t blocks;
};

/// Measured on an H200: three consumers feed more rows from every byte of K and
/// V, as long as the accumulators leave room in their 160 registers. Up to head
/// dim 96 a second tile of Q hides the change from one tile to the next; at 128
/// the memory is better spent on rings of 4 slots, which let consumers drift
/// apart (10 % at 2048 keys). Rings of 3 cost a division (5 %).
constexpr Candidate kFA3Candidates[] = {
    {64, 192, 128, 3, 2, 2, true, true, true, 1},
    {96, 192, 96, 3, 2, 2, true, true, true, 1},
    {128, 192, 80, 3, 1, 4, true, true, true, 1},
    {128, 128, 128, 2, 1, 2, true, true, false, 1},
    {192, 128, 96, 2, 1, 2, true, true, false, 1},
    {256, 128, 80, 2, 1, 2, true, true, false, 1},
    {256, 128, 64, 2, 1, 2, true, true, false, 1},
};

/// Four warps, one for each scheduler of a multiprocessor, leave a thread all
/// the registers it can name, and a second block computes while the first
/// waits. 32 rows a warp read K and V from shared memory half as often as 16,
/// as long as their accumulators fit. Measured on an H200 with sm_80's code:
/// the overlap gives 12 % at head dim 64; from 96 on, its registers do not fit
/// beside 64 keys, which are worth more (128: 16 % over 32 keys).
constexpr Candidate kFA2Candidates[] = {
    {64, 128, 64, 4, 1, 2, true, false, false, 2},
    {128, 128, 64, 4, 1, 1, false, false, false, 2},
    {128, 128, 32, 4, 1, 1, false, false, false, 2},
    {256, 64, 64, 4, 1, 1, false, false, false, 1},
};

/// Registers of producer and consumer, by the number of consumers. Together
/// they are what the block starts with: 65536 / threads, rounded down to 8.
constexpr int64_t kRegisters[][2] = {{0, 0}, {56, 248}, {24, 240}, {32, 160}};

/// Rows that one wgmma, and that one mma.sync computes.
constexpr int64_t kRowsPerWarpgroup = 64;
constexpr int64_t kRowsPerWarp = 16;
/// Columns and inner extents are stored, and multiplied, in steps of these.
constexpr int64_t kInnerStep = 16;
/// More of anything fits nowhere.
constexpr int64_t kLargestFactor = 1 << 16;
/// Registers besides accumulators and weights: addresses, bounds, row
/// statistics, temporaries of the softmax.
constexpr int64_t kOtherRegisters = 32;
/// Growth of a maximum, in log2 units, that is worth a rescaling: weights stay
/// below 2^8, far from the largest f16.
constexpr int64_t kRescaleThreshold = 8;
/// With more, f32 would have less than half its exponents left for values.
constexpr int64_t kLargestRescaleThreshold = 32;

} // namespace

ScheduleQuery ScheduleQuery::get(AttentionOp op, StringRef target) {
  ScheduleQuery query;
  query.target = target.str();
  auto element = cast<FloatType>(getElementTypeOrSelf(op.getQuery()));
  query.elementBits = element.getWidth();
  query.elementExponent =
      llvm::APFloat::semanticsMaxExponent(element.getFloatSemantics());
  query.headDimQK = op.getHeadDimQK();
  query.headDimVO = op.getHeadDimVO();
  query.isMasked = static_cast<bool>(op.getMaskAttr());
  return query;
}

/// Bytes of a row of a tile in shared memory: whole panels.
static int64_t getRowBytes(int64_t columns, const ScheduleQuery &query) {
  return llvm::alignTo(columns * query.elementBits / 8, kPanelBytes);
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
  // A worker of style fa2 is a warp.
  int64_t parked = schedule.getStyle() == Style::FA2
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
  checkThreads(schedule.getWorkers() * TargetInfo::threadsPerWarp, target,
               reasons);
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

/// The schedule of style `style` with the tile of `candidate`.
static ScheduleAttr createSchedule(MLIRContext *context, Style style,
                                   const Candidate &candidate,
                                   const ScheduleQuery &query) {
  bool isFA3 = style == Style::FA3;
  bool persistent =
      query.isMasked ? candidate.maskedPersistent : candidate.persistent;
  ArrayRef<int64_t> registers;
  if (isFA3)
    registers = kRegisters[candidate.workers];
  return ScheduleAttr::get(context, style, query.target, candidate.rows,
                           candidate.keys, candidate.workers,
                           candidate.queryStages, candidate.stages, registers,
                           candidate.overlap, kRescaleThreshold, persistent,
                           /*descending=*/query.isMasked);
}

/// What speaks against a candidate; empty if nothing.
static std::string checkCandidate(const Candidate &candidate,
                                  ScheduleAttr schedule,
                                  const ScheduleQuery &query) {
  int64_t headDim = std::max(query.headDimQK, query.headDimVO);
  if (headDim > candidate.headDim)
    return llvm::formatv("meant for head dims up to {0}, but got {1}",
                         candidate.headDim, headDim);
  std::string refusal = checkSchedule(schedule, query);
  if (!refusal.empty())
    return refusal;
  const TargetInfo &target = *lookupTarget(query.target);
  int64_t blocks =
      target.sharedBytesPerMultiprocessor /
      (getSharedBytes(schedule, query) + target.sharedBytesReserved);
  if (blocks < candidate.blocks)
    return llvm::formatv("meant for {0} blocks per multiprocessor, but shared "
                         "memory is enough for {1}",
                         candidate.blocks, blocks);
  return "";
}

ScheduleDecision mlir::attn::selectSchedule(MLIRContext *context,
                                            const ScheduleQuery &query) {
  const TargetInfo *target = lookupTarget(query.target);
  if (target && target->isHost())
    return selectHostSchedule(context, query);
  ScheduleDecision decision;
  int64_t headDim = std::max(query.headDimQK, query.headDimVO);
  Style best = target && !target->wgmma && target->mma.exists() ? Style::FA2
                                                                : Style::FA3;
  Style style = query.style.value_or(best);
  ArrayRef<Candidate> candidates = kFA3Candidates;
  if (style == Style::FA2)
    candidates = kFA2Candidates;
  for (const Candidate &candidate : candidates) {
    ScheduleAttr schedule = createSchedule(context, style, candidate, query);
    std::string refusal = checkCandidate(candidate, schedule, query);
    if (!refusal.empty()) {
      decision.refusals.push_back({schedule, refusal});
      continue;
    }
    decision.schedule = schedule;
    decision.reason = llvm::formatv("the first of the measured order for head "
                                    "dim {0} that fits {1}",
                                    headDim, query.target);
    return decision;
  }
  decision.reason = llvm::formatv("no schedule for head dim {0} fits {1}",
                                  headDim, query.target);
  return decision;
}

namespace {

struct AttnSelectSchedule
    : attn::impl::AttnSelectSchedulePassBase<AttnSelectSchedule> {
  using AttnSelectSchedulePassBase::AttnSelectSchedulePassBase;

  LogicalResult check(AttentionOp op) {
    ScheduleAttr schedule = *op.getSchedule();
    std::string reason =
        checkSchedule(schedule, ScheduleQuery::get(op, schedule.getTarget()));
    if (reason.empty())
      return success();
    return op.emitOpError() << "schedule does not fit: " << reason;
  }

  LogicalResult select(AttentionOp op) {
    ScheduleQuery query = ScheduleQuery::get(op, target);
    if (!style.empty()) {
      query.style = symbolizeStyle(style);
      if (!query.style || *query.style == Style::Host)
        return op.emitOpError()
               << "expected style fa2 or fa3, but got " << style;
    }
    ScheduleDecision decision = selectSchedule(&getContext(), query);
    if (decision.schedule) {
      op.setScheduleAttr(decision.schedule);
      return success();
    }
    InFlightDiagnostic diagnostic = op.emitOpError() << decision.reason;
    for (const ScheduleRefusal &refusal : decision.refusals)
      diagnostic.attachNote() << refusal.schedule << ": " << refusal.reason;
    return diagnostic;
  }

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](AttentionOp op) {
      return WalkResult(op.getSchedule() ? check(op) : select(op));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
