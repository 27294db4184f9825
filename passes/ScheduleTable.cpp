//===- ScheduleTable.cpp - The schedules that are tried -------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/ScheduleTable.h"

#include "codegen/Target/TargetInfo.h"
#include "dialect/attn/AttnTuning.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::attn;

static constexpr llvm::StringLiteral kBuiltIn =
#include "passes/Schedules.inc"
    ;

ScheduleAttr ScheduleRow::getSchedule(StringRef target) const {
  ScheduleAttr s = schedule;
  return ScheduleAttr::get(
      s.getContext(), s.getStyle(), target, s.getRows(), s.getKeys(),
      s.getWorkers(), s.getQueryStages(), s.getStages(), s.getRegisters(),
      s.getOverlap(), s.getRescaleThreshold(), s.getPersistent(),
      s.getDescending(), s.getSharedLoopColumns(), s.getSectionBytes(),
      s.getRepairAccumulators(), s.getRepairKeys(), s.getProductColumns(),
      s.getKeptDescriptors(), s.getSpillIndices(), s.getUnroll(),
      s.getReduceStrength());
}

static std::string describeEvidence(TunedOp op) {
  std::string reason = op.getReason().str();
  if (!op.getDevice())
    return reason;
  return llvm::formatv("measured on {0}, {1}: {2}", *op.getDevice(),
                       op.getDate().value_or("day unknown"), reason);
}

static ScheduleRow readRow(TunedOp op) {
  ScheduleRow row;
  for (StringRef target : op.getTargets().getAsValueRange<StringAttr>())
    row.targets.push_back(target.str());
  row.minHeadDim = op.getMinHeadDim();
  row.maxHeadDim = op.getMaxHeadDim();
  row.uneven = op.getUneven();
  if (op.getMinSeqlenK())
    row.seqlenK = {*op.getMinSeqlenK(), *op.getMaxSeqlenK()};
  row.blocks = op.getBlocks();
  row.schedule = op.getSchedule();
  row.evidence = describeEvidence(op);
  return row;
}

/// A row that a target could never take, at the greatest head dim that it is
/// meant for, is a slip of whoever wrote it.
static LogicalResult checkRow(TunedOp op, const ScheduleRow &row) {
  for (StringRef target : row.targets) {
    ScheduleQuery query;
    query.target = target.str();
    query.headDimQK = query.headDimVO = row.maxHeadDim;
    std::string refusal = checkSchedule(row.getSchedule(target), query);
    if (!refusal.empty())
      return op.emitOpError() << "does not fit " << target << " at head dim "
                              << row.maxHeadDim << ": " << refusal;
  }
  return success();
}

/// The text of the table, by the name that errors in it have.
static FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
openTable(MLIRContext *context, StringRef path) {
  if (path.empty())
    return llvm::MemoryBuffer::getMemBuffer(kBuiltIn, "schedules.mlir");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return emitError(UnknownLoc::get(context))
           << "expected to read schedules from '" << path
           << "', but got: " << buffer.getError().message();
  return std::move(*buffer);
}

FailureOr<ScheduleTable> ScheduleTable::read(MLIRContext *context,
                                             StringRef path) {
  auto buffer = openTable(context, path);
  if (failed(buffer))
    return failure();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, context);
  if (!module)
    return failure();
  ScheduleTable table;
  for (Operation &op : *module->getBody()) {
    auto tuned = dyn_cast<TunedOp>(op);
    if (!tuned)
      return op.emitOpError() << "expected attn.tuned alone in a table of "
                                 "schedules";
    table.rows.push_back(readRow(tuned));
    if (failed(checkRow(tuned, table.rows.back())))
      return failure();
  }
  if (table.rows.empty())
    return module->emitError() << "expected a table of schedules to have a "
                                  "row, but got none";
  return table;
}
