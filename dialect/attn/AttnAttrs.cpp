//===- AttnAttrs.cpp - Masks and schedules --------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn;

/// `scalar` as a value of `like`'s type: itself, or broadcast to a vector.
static Value broadcastLike(OpBuilder &builder, Location loc, Value scalar,
                           Value like) {
  if (scalar.getType() == like.getType())
    return scalar;
  return vector::BroadcastOp::create(builder, loc, like.getType(), scalar);
}

//===----------------------------------------------------------------------===//
// CausalAttr
//===----------------------------------------------------------------------===//

Value CausalAttr::lower(OpBuilder &, Location, Value, Value, Value) const {
  return {};
}

Value CausalAttr::upper(OpBuilder &builder, Location loc, Value row,
                        Value seqlenQ, Value seqlenK) const {
  // i + o + 1, with everything but the row in one scalar.
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value shift = one;
  if (getAlignment() == Alignment::BottomRight) {
    Value offset = arith::SubIOp::create(builder, loc, seqlenK, seqlenQ);
    shift = arith::AddIOp::create(builder, loc, offset, one);
  }
  return arith::AddIOp::create(builder, loc, row,
                               broadcastLike(builder, loc, shift, row));
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, Style style, StringRef target,
    int64_t rows, int64_t keys, int64_t workers, int64_t queryStages,
    int64_t stages, ArrayRef<int64_t> registers, bool overlap,
    int64_t rescaleThreshold, bool persistent, bool descending,
    int64_t sharedLoopColumns, int64_t sectionBytes, int64_t repairColumns,
    int64_t repairQueryColumns, int64_t repairKeys, int64_t productColumns,
    std::optional<int64_t> keptDescriptors, bool, bool, bool) {
  if (rows <= 0 || keys <= 0 || workers <= 0 || queryStages <= 0 || stages <= 0)
    return emitError() << "expected rows, keys, workers, query_stages and "
                          "stages to be positive, but got "
                       << rows << ", " << keys << ", " << workers << ", "
                       << queryStages << " and " << stages;
  if (rows % workers != 0)
    return emitError() << "expected workers to divide rows, but got " << workers
                       << " and " << rows;
  if (style == Style::FA3 && registers.size() != 2)
    return emitError() << "expected registers of producer and consumer, but "
                          "got "
                       << registers.size() << " numbers";
  if (style != Style::FA3 && !registers.empty())
    return emitError() << "expected no registers outside style fa3, but got "
                       << registers.size() << " numbers";
  if (rescaleThreshold < 0)
    return emitError()
           << "expected rescale_threshold to be at least 0, but got "
           << rescaleThreshold;
  const std::pair<StringRef, int64_t> positives[] = {
      {"shared_loop_columns", sharedLoopColumns},
      {"section_bytes", sectionBytes},
      {"repair_columns", repairColumns},
      {"repair_query_columns", repairQueryColumns},
      {"repair_keys", repairKeys},
      {"product_columns", productColumns},
      {"kept_descriptors", keptDescriptors.value_or(1)}};
  for (auto [name, value] : positives)
    if (value <= 0)
      return emitError() << "expected " << name << " to be positive, but got "
                         << value;
  return success();
}

/// Measured: beside the accumulators of a consumer with few registers, more
/// descriptors make the assembler spill. With more registers there is room for
/// all.
static constexpr int64_t kFewRegisters = 200;
static constexpr int64_t kFewDescriptors = 6;

int64_t ScheduleAttr::getNumKeptDescriptors() const {
  ArrayRef<int64_t> registers = getRegisters();
  bool hasFew = registers.size() == 2 && registers[1] < kFewRegisters;
  return getKeptDescriptors().value_or(
      hasFew ? kFewDescriptors : std::numeric_limits<int64_t>::max());
}
