//===- SelectSchedule.cpp - attn-select-schedule --------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/SelectSchedule.h"
#include "passes/OpLimits.h"
#include "passes/Passes.h"

#include "codegen/Target/TargetInfo.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNSELECTSCHEDULEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// The style that suits a target best. Where nothing fits in it, another one is
/// not taken without being asked for.
static Style getBestStyle(const TargetInfo *target) {
  if (target && target->isHost())
    return Style::Host;
  return target && !target->wgmma && target->mma.exists() ? Style::FA2
                                                          : Style::FA3;
}

/// What a row is meant for, and the problem is not; empty if nothing.
static std::string checkProblem(const ScheduleRow &row,
                                const ScheduleQuery &query) {
  int64_t headDim = query.getHeadDim();
  if (headDim > row.maxHeadDim)
    return llvm::formatv("meant for head dims up to {0}, but got {1}",
                         row.maxHeadDim, headDim);
  if (headDim < row.minHeadDim)
    return llvm::formatv("meant for head dims from {0} on, but got {1}",
                         row.minHeadDim, headDim);
  if (!row.seqlenK)
    return "";
  auto [first, last] = *row.seqlenK;
  if (!query.seqlenK)
    return llvm::formatv("meant for {0} to {1} keys, which the problem does "
                         "not pin",
                         first, last);
  if (*query.seqlenK < first || *query.seqlenK > last)
    return llvm::formatv("meant for {0} to {1} keys, but got {2}", first, last,
                         *query.seqlenK);
  return "";
}

/// What speaks against a row; empty if nothing.
static std::string checkRow(const ScheduleRow &row, ScheduleAttr schedule,
                            const ScheduleQuery &query) {
  std::string refusal = checkProblem(row, query);
  if (refusal.empty())
    refusal = checkSchedule(schedule, query);
  if (!refusal.empty())
    return refusal;
  if (!row.hasTarget(query.target))
    return llvm::formatv("meant for {0}, but got {1}",
                         llvm::join(row.targets, ", "), query.target);
  if (schedule.getStyle() == Style::Host)
    return "";
  const TargetInfo &target = *lookupTarget(query.target);
  int64_t blocks =
      target.sharedBytesPerMultiprocessor /
      (getSharedBytes(schedule, query) + target.sharedBytesReserved);
  if (blocks < row.blocks)
    return llvm::formatv("meant for {0} blocks per multiprocessor, but shared "
                         "memory is enough for {1}",
                         row.blocks, blocks);
  return "";
}

ScheduleDecision mlir::attn::selectSchedule(const ScheduleTable &table,
                                            const ScheduleQuery &query) {
  ScheduleDecision decision;
  Style style = query.style.value_or(getBestStyle(lookupTarget(query.target)));
  for (const ScheduleRow &row : table.getRows()) {
    if (row.schedule.getStyle() != style ||
        row.uneven.value_or(query.isMasked) != query.isMasked)
      continue;
    ScheduleAttr schedule = row.getSchedule(query.target);
    std::string refusal = checkRow(row, schedule, query);
    if (!refusal.empty()) {
      decision.refusals.push_back({schedule, refusal});
      continue;
    }
    decision.schedule = schedule;
    decision.reason = llvm::formatv(
        "the first row of the table for head dim {0} that fits {1}; {2}",
        query.getHeadDim(), query.target, row.evidence);
    return decision;
  }
  decision.reason = llvm::formatv("no schedule for head dim {0} fits {1}",
                                  query.getHeadDim(), query.target);
  return decision;
}

namespace {

struct AttnSelectSchedule
    : attn::impl::AttnSelectSchedulePassBase<AttnSelectSchedule> {
  using AttnSelectSchedulePassBase::AttnSelectSchedulePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    FailureOr<ScheduleTable> read = ScheduleTable::read(context, schedules);
    if (failed(read))
      return failure();
    table = std::make_shared<ScheduleTable>(std::move(*read));
    return success();
  }

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
    ScheduleDecision decision = selectSchedule(*table, query);
    if (decision.schedule) {
      op.setScheduleAttr(decision.schedule);
      return success();
    }
    InFlightDiagnostic diagnostic = op.emitOpError() << decision.reason;
    for (const ScheduleRefusal &refusal : decision.refusals)
      diagnostic.attachNote() << refusal.schedule << ": " << refusal.reason;
    return diagnostic;
  }

  /// What no schedule makes possible.
  LogicalResult checkLimits(AttentionOp op) {
    StringRef name =
        op.getSchedule() ? op.getSchedule()->getTarget() : StringRef(target);
    const TargetInfo *info = lookupTarget(name);
    bool isHost = info && info->isHost();
    std::vector<std::string> reasons = listInvalidValues(op);
    llvm::append_range(reasons, listUnservedTypes(op, isHost));
    llvm::append_range(
        reasons,
        listUnservedOperands(op, isHost ? Columns::Strided : Columns::Dense));
    for (const std::string &reason : reasons)
      op.emitOpError() << reason;
    return success(reasons.empty());
  }

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](AttentionOp op) {
      if (failed(checkLimits(op)))
        return WalkResult::interrupt();
      return WalkResult(op.getSchedule() ? check(op) : select(op));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  /// Shared by the copies of the pass that work on functions side by side.
  std::shared_ptr<const ScheduleTable> table;
};

} // namespace
