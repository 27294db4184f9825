//===- SelectSchedule.cpp - attn-select-schedule --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/SelectSchedule.h"
#include "passes/Passes.h"

#include "codegen/Target/TargetInfo.h"

#include "llvm/Support/FormatVariadic.h"

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

/// Growth of a maximum, in log2 units, that is worth a rescaling: weights stay
/// below 2^8, far from the largest f16.
constexpr int64_t kRescaleThreshold = 8;

/// The tile that is taken on the host where nobody asks for another. Rows share
/// what turning a tile of K around costs; keys are the lanes of a row's
/// vectors.
constexpr int64_t kHostRows = 32, kHostKeys = 32;

} // namespace

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
  return ScheduleAttr::get(
      context, style, query.target, candidate.rows, candidate.keys,
      candidate.workers, candidate.queryStages, candidate.stages, registers,
      candidate.overlap, kRescaleThreshold, persistent,
      /*descending=*/query.isMasked, ScheduleDefaults::sharedLoopColumns,
      ScheduleDefaults::sectionBytes, ScheduleDefaults::repairColumns,
      ScheduleDefaults::repairQueryColumns, ScheduleDefaults::repairKeys,
      ScheduleDefaults::productColumns,
      /*kept_descriptors=*/std::nullopt, ScheduleDefaults::spillIndices,
      ScheduleDefaults::unroll, ScheduleDefaults::reduceStrength);
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

/// The schedule for the CPU, which fits every problem.
static ScheduleDecision selectHostSchedule(MLIRContext *context,
                                           const ScheduleQuery &query) {
  ScheduleDecision decision;
  decision.schedule = ScheduleAttr::get(
      context, Style::Host, query.target, kHostRows, kHostKeys, /*workers=*/1,
      /*query_stages=*/1, /*stages=*/1, /*registers=*/ArrayRef<int64_t>(),
      /*overlap=*/false, /*rescale_threshold=*/0, /*persistent=*/false,
      /*descending=*/false, ScheduleDefaults::sharedLoopColumns,
      ScheduleDefaults::sectionBytes, ScheduleDefaults::repairColumns,
      ScheduleDefaults::repairQueryColumns, ScheduleDefaults::repairKeys,
      ScheduleDefaults::productColumns,
      /*kept_descriptors=*/std::nullopt, ScheduleDefaults::spillIndices,
      ScheduleDefaults::unroll, ScheduleDefaults::reduceStrength);
  decision.reason = "the one tile of the host; any other gives the same result "
                    "up to rounding";
  return decision;
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
