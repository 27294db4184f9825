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

/// The key on the diagonal of a row, `i + o`, plus `distance`; all but the row
/// is formed in one scalar.
static Value buildDiagonal(OpBuilder &builder, Location loc,
                           Alignment alignment, const MaskPosition &at,
                           Value distance) {
  if (alignment == Alignment::BottomRight) {
    Value offset = arith::SubIOp::create(builder, loc, at.seqlenK, at.seqlenQ);
    distance = arith::AddIOp::create(builder, loc, offset, distance);
  }
  return arith::AddIOp::create(builder, loc, at.row,
                               broadcastLike(builder, loc, distance, at.row));
}

//===----------------------------------------------------------------------===//
// CausalAttr
//===----------------------------------------------------------------------===//

Value CausalAttr::lower(OpBuilder &, Location, const MaskPosition &,
                        ValueRange) const {
  return {};
}

Value CausalAttr::upper(OpBuilder &builder, Location loc,
                        const MaskPosition &at, ValueRange) const {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return buildDiagonal(builder, loc, getAlignment(), at, one);
}

//===----------------------------------------------------------------------===//
// WindowAttr
//===----------------------------------------------------------------------===//

/// `width`, or `limit` where that is negative: further than any key.
static Value buildWidth(OpBuilder &builder, Location loc, Value width,
                        Value limit) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isUnbounded = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, width, zero);
  Value bounded = arith::MinSIOp::create(builder, loc, width, limit);
  return arith::SelectOp::create(builder, loc, isUnbounded, limit, bounded);
}

/// No two positions of a sequence are further apart.
static Value buildFurthest(OpBuilder &builder, Location loc,
                           const MaskPosition &at) {
  return arith::AddIOp::create(builder, loc, at.seqlenQ, at.seqlenK);
}

Value WindowAttr::lower(OpBuilder &builder, Location loc,
                        const MaskPosition &at, ValueRange operands) const {
  if (!getLeft())
    return {};
  Value width = buildWidth(builder, loc, operands.front(),
                           buildFurthest(builder, loc, at));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value back = arith::SubIOp::create(builder, loc, zero, width);
  return buildDiagonal(builder, loc, getAlignment(), at, back);
}

Value WindowAttr::upper(OpBuilder &builder, Location loc,
                        const MaskPosition &at, ValueRange operands) const {
  if (!getRight())
    return {};
  Value width = buildWidth(builder, loc, operands.back(),
                           buildFurthest(builder, loc, at));
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value ahead = arith::AddIOp::create(builder, loc, width, one);
  return buildDiagonal(builder, loc, getAlignment(), at, ahead);
}

LogicalResult
WindowAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                           TypeRange operands) const {
  size_t expected = getLeft() + getRight();
  if (operands.size() == expected &&
      llvm::all_of(operands, llvm::IsaPred<IndexType>))
    return success();
  return emitError() << "expected " << expected << " widths of type index of "
                     << "the window, but got " << operands.size();
}

SmallVector<std::string> WindowAttr::getOperandNames(size_t) const {
  SmallVector<std::string> names;
  if (getLeft())
    names.push_back("window_left");
  if (getRight())
    names.push_back("window_right");
  return names;
}

bool WindowAttr::dependsOnRow() const { return getLeft() || getRight(); }

/// Between two ends that move alike lie as many keys for every row.
bool WindowAttr::hasUnevenTiles() const { return getLeft() != getRight(); }

/// `<bottom_right, left, right>`
Attribute WindowAttr::parse(AsmParser &parser, Type) {
  StringRef alignment;
  bool left = false, right = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&alignment))
    return {};
  std::optional<Alignment> parsed = symbolizeAlignment(alignment);
  if (!parsed) {
    parser.emitError(loc) << "expected top_left or bottom_right, but got '"
                          << alignment << "'";
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    if (!left && !right && succeeded(parser.parseOptionalKeyword("left")))
      left = true;
    else if (!right && succeeded(parser.parseOptionalKeyword("right")))
      right = true;
    else
      return parser.emitError(parser.getCurrentLocation())
                 << "expected left, right or both, in this order",
             Attribute();
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), *parsed, left, right);
}

void WindowAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyAlignment(getAlignment());
  if (getLeft())
    printer << ", left";
  if (getRight())
    printer << ", right";
  printer << '>';
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, Style style, StringRef target,
    int64_t rows, int64_t keys, int64_t workers, int64_t queryStages,
    int64_t stages, ArrayRef<int64_t> registers, bool overlap,
    int64_t rescaleThreshold, bool persistent, bool descending,
    int64_t sharedLoopColumns, int64_t sectionBytes, int64_t repairAccumulators,
    int64_t repairKeys, int64_t productColumns,
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
      {"repair_accumulators", repairAccumulators},
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
