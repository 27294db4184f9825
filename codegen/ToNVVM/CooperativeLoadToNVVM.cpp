//===- CooperativeLoadToNVVM.cpp - Copies by the threads of a block -------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cooperative_load -> wait until empty;
//     where base and strides allow it, cp.async of 16 bytes a thread and round,
//     and an arrival at full that takes place when they have landed;
//     else a loop that goes through registers, and an arrival behind it.
//
// Neighbouring threads take the units of 16 bytes of one row of a panel, the
// next threads the rows below, and from round to round all go down together.
// What lies outside the tensor is written as zeros, up to whole steps of the
// matmul's inner dimension: products read it.
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/ChannelSlot.h"
#include "codegen/ToNVVM/InlineAsm.h"
#include "codegen/ToNVVM/MemRefParts.h"
#include "codegen/ToNVVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// The widest copy of cp.async (PTX ISA, "cp.async").
static constexpr int64_t kUnitBytes = 16;
static constexpr int64_t kRegisterBytes = 4;

namespace {

/// The copy of one tile by all threads, as code of each.
class TileCopy {
public:
  TileCopy(ImplicitLocOpBuilder &b, const Kernel &kernel, CooperativeLoadOp op,
           ArrayRef<ValueRange> coordinates, ValueRange tensor, Value tile);

  /// Whether all 16 bytes of a unit can be copied at once.
  Value isAligned();
  /// Starts asynchronous copies, a unit each.
  void copyUnits();
  /// Copies element by element, in a loop: few instructions, for rare tensors.
  void copyElements();

private:
  /// What this thread copies in one round of one panel.
  struct Unit {
    /// Row in the tile.
    Value row;
    /// Which panel, and which unit of a whole row.
    Value panel, number;
  };

  Unit getUnit(Value panel, Value round);
  /// Whether the tile has the unit; null if all tiles of this size do.
  Value exists(const Unit &unit);
  /// Whether the tensor has it.
  Value isInside(const Unit &unit);
  Value getSource(const Unit &unit);
  Value move(Value pointer, LLVM::GEPArg elements);
  Value getTarget(const Unit &unit);
  SmallVector<Value> loadElements(Value source);

  int64_t unitsPerPanel() const { return layout.swizzle / kUnitBytes; }
  int64_t rowsPerRound() const { return numThreads / unitsPerPanel(); }
  int64_t numRounds() const {
    return llvm::divideCeilSigned(rows, rowsPerRound());
  }
  int64_t numPanels() const { return layout.numPanels(columns); }
  /// Units of a row that are written.
  int64_t numFilledUnits() const {
    return llvm::divideCeilSigned(columns, kMatmulStep) * kMatmulStep /
           unitColumns();
  }
  int64_t unitColumns() const { return kUnitBytes / layout.elementBytes; }

  Value add(Value x, Value y) { return LLVM::AddOp::create(b, x, y); }
  Value mul(Value x, int64_t y) {
    return LLVM::MulOp::create(b, x, createI32(b, y));
  }
  Value isLess(Value x, Value y) {
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, x, y);
  }

  ImplicitLocOpBuilder &b;
  SharedLayout layout;
  int64_t numThreads;
  int64_t rows, columns;
  Type elementType;
  Value tile;
  MemRefParts parts;
  /// Row and unit of this thread in the first round of a panel.
  Value threadRow, threadUnit;
  /// First row of the tile in the tensor, rows of the tensor, their distance.
  Value firstRow, numRows, rowStride;
  Value firstColumn;
  /// Elements from the tensor's start to the tile's columns in row 0.
  Value fixedOffset;
};

} // namespace

TileCopy::TileCopy(ImplicitLocOpBuilder &b, const Kernel &kernel,
                   CooperativeLoadOp op, ArrayRef<ValueRange> coordinates,
                   ValueRange tensor, Value tile)
    : b(b), numThreads(kernel.numThreads), tile(tile) {
  ChannelType channel = op.getChannel().getType();
  layout = getSharedLayout(channel.getLayout(), channel.getElementType());
  rows = channel.getShape()[0];
  columns = channel.getShape()[1];
  elementType = channel.getElementType();
  parts = takeApart(b, cast<MemRefType>(op.getTensor().getType()), tensor);
  threadRow = LLVM::LShrOp::create(
      b, kernel.thread, createI32(b, llvm::Log2_64(unitsPerPanel())));
  threadUnit =
      LLVM::AndOp::create(b, kernel.thread, createI32(b, unitsPerPanel() - 1));
  firstColumn = coordinates.back().front();
  fixedOffset = createI64(b, 0);
  for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
    if (dim == op.getRows()) {
      firstRow = coordinate.front();
      numRows = parts.sizes[dim];
      rowStride = parts.strides[dim];
      continue;
    }
    Value wide = LLVM::ZExtOp::create(b, b.getI64Type(), coordinate.front());
    fixedOffset =
        add(fixedOffset, LLVM::MulOp::create(b, wide, parts.strides[dim]));
  }
}

Value TileCopy::isAligned() {
  Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(), parts.base);
  auto include = [&](Value elements) {
    Value bytes =
        LLVM::MulOp::create(b, elements, createI64(b, layout.elementBytes));
    bits = LLVM::OrOp::create(b, bits, bytes);
  };
  include(fixedOffset);
  include(rowStride);
  Value rest = LLVM::AndOp::create(b, bits, createI64(b, kUnitBytes - 1));
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, rest,
                              createI64(b, 0));
}

TileCopy::Unit TileCopy::getUnit(Value panel, Value round) {
  return {add(threadRow, mul(round, rowsPerRound())), panel,
          add(threadUnit, mul(panel, unitsPerPanel()))};
}

Value TileCopy::exists(const Unit &unit) {
  Value inRows, inColumns;
  if (rows % rowsPerRound() != 0)
    inRows = isLess(unit.row, createI32(b, rows));
  if (numFilledUnits() % unitsPerPanel() != 0)
    inColumns = isLess(unit.number, createI32(b, numFilledUnits()));
  return emitAnd(b, inRows, inColumns);
}

Value TileCopy::isInside(const Unit &unit) {
  // Columns of a tile are the tensor's or more, in whole units.
  Value column = add(firstColumn, mul(unit.number, unitColumns()));
  return LLVM::AndOp::create(b, isLess(add(firstRow, unit.row), numRows),
                             isLess(column, parts.sizes.back()));
}

Value TileCopy::getSource(const Unit &unit) {
  auto widen = [&](Value value) -> Value {
    return LLVM::ZExtOp::create(b, b.getI64Type(), value);
  };
  Value row = LLVM::MulOp::create(b, widen(add(firstRow, unit.row)), rowStride);
  Value column = widen(mul(unit.number, unitColumns()));
  return LLVM::GEPOp::create(b, parts.base.getType(), elementType, parts.base,
                             ValueRange{add(add(fixedOffset, row), column)});
}

/// SharedLayout::byteOffset of the unit's first column, as code.
Value TileCopy::getTarget(const Unit &unit) {
  int64_t perLine = unitsPerPanel();
  Value line = LLVM::AndOp::create(b, unit.row, createI32(b, perLine - 1));
  Value place = LLVM::XOrOp::create(b, threadUnit, line);
  Value offset = add(mul(unit.row, layout.swizzle), mul(place, kUnitBytes));
  return add(tile, add(offset, mul(unit.panel, layout.panelBytes())));
}

/// `pointer` moved by `elements`.
Value TileCopy::move(Value pointer, LLVM::GEPArg elements) {
  return LLVM::GEPOp::create(b, pointer.getType(), elementType, pointer,
                             ArrayRef<LLVM::GEPArg>{elements});
}

void TileCopy::copyUnits() {
  // From round to round one step, so that the rounds of a loop do not keep
  // addresses of their own in registers.
  Value step = LLVM::MulOp::create(b, rowStride, createI64(b, rowsPerRound()));
  Value source = getSource(getUnit(createI32(b, 0), createI32(b, 0)));
  for (int64_t round = 0; round < numRounds(); ++round) {
    if (round > 0)
      source = move(source, step);
    for (int64_t panel = 0; panel < numPanels(); ++panel) {
      OpBuilder::InsertionGuard guard(b);
      Unit unit = getUnit(createI32(b, panel), createI32(b, round));
      if (Value condition = exists(unit))
        b.setInsertionPointToStart(scf::IfOp::create(b, condition).thenBlock());
      // The bytes of a unit that are not read are written as zeros.
      Value bytes = LLVM::SelectOp::create(
          b, isInside(unit), createI32(b, kUnitBytes), createI32(b, 0));
      int64_t column = panel * layout.panelColumns();
      NVVM::CpAsyncOp::create(b, toSharedPointer(b, getTarget(unit)),
                              move(source, static_cast<int32_t>(column)),
                              kUnitBytes, NVVM::LoadCacheModifierKind::CG,
                              bytes);
    }
  }
}

/// The elements of a unit, two or more to a register.
SmallVector<Value> TileCopy::loadElements(Value source) {
  SmallVector<Value> registers;
  int64_t perRegister = kRegisterBytes / layout.elementBytes;
  auto type = VectorType::get({perRegister}, elementType);
  for (int64_t i = 0; i < unitColumns(); i += perRegister) {
    Value packed = LLVM::PoisonOp::create(b, type);
    for (int64_t j = 0; j < perRegister; ++j) {
      Value address = LLVM::GEPOp::create(
          b, source.getType(), elementType, source,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i + j)});
      packed = LLVM::InsertElementOp::create(
          b, packed, LLVM::LoadOp::create(b, elementType, address),
          createI32(b, j));
    }
    registers.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), packed));
  }
  return registers;
}

void TileCopy::copyElements() {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, createI32(b, 0),
                                 createI32(b, numPanels() * numRounds()),
                                 createI32(b, 1));
  b.setInsertionPointToStart(loop.getBody());
  Value rounds = createI32(b, numRounds());
  Unit unit = getUnit(LLVM::UDivOp::create(b, loop.getInductionVar(), rounds),
                      LLVM::URemOp::create(b, loop.getInductionVar(), rounds));
  if (Value condition = exists(unit))
    b.setInsertionPointToStart(scf::IfOp::create(b, condition).thenBlock());
  constexpr int64_t count = kUnitBytes / kRegisterBytes;
  auto registers =
      scf::IfOp::create(b, SmallVector<Type>(count, b.getI32Type()),
                        isInside(unit), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(registers.thenBlock());
    scf::YieldOp::create(b, loadElements(getSource(unit)));
    b.setInsertionPointToStart(registers.elseBlock());
    scf::YieldOp::create(b, SmallVector<Value>(count, createI32(b, 0)));
  }
  Value packed =
      LLVM::PoisonOp::create(b, VectorType::get({count}, b.getI32Type()));
  for (auto [i, value] : llvm::enumerate(registers.getResults()))
    packed = LLVM::InsertElementOp::create(b, packed, value, createI32(b, i));
  LLVM::StoreOp::create(b, packed, toSharedPointer(b, getTarget(unit)),
                        kUnitBytes);
}

namespace {

struct CooperativeLoadPattern : ThreadPattern<CooperativeLoadOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(CooperativeLoadOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ChannelType type = op.getChannel().getType();
    int64_t columns = type.getShape()[1];
    int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    if (columns * bytes % kUnitBytes != 0 ||
        kernel.numThreads * kUnitBytes % type.getLayout().getSwizzle() != 0)
      return rewriter.notifyMatchFailure(op, "not whole units and rows");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Slot slot(b, type, adaptor.getChannel(), adaptor.getSlot().front());
    emitBarrierWait(b, slot.getEmpty(), slot.getEmptyParity(),
                    kernel.hasTryWait);
    Value full = slot.getFull();
    TileCopy copy(b, kernel, op, adaptor.getCoordinates(), adaptor.getTensor(),
                  slot.getTile());
    auto aligned = scf::IfOp::create(b, copy.isAligned(),
                                     /*withElseRegion=*/true);
    b.setInsertionPointToStart(aligned.thenBlock());
    copy.copyUnits();
    NVVM::CpAsyncMBarrierArriveOp::create(b, toSharedPointer(b, full),
                                          /*noinc=*/true);
    b.setInsertionPointToStart(aligned.elseBlock());
    copy.copyElements();
    Value always =
        LLVM::ConstantOp::create(b, b.getI1Type(), b.getBoolAttr(true));
    emitBarrierArrive(b, full, always);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::attn_gpu::populateCooperativeLoadPatterns(
    RewritePatternSet &patterns, const ThreadTypeConverter &converter,
    const Kernel &kernel) {
  patterns.add<CooperativeLoadPattern>(converter, kernel,
                                       patterns.getContext());
}
