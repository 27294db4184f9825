//===- TransfersToNVVM.cpp - Reads and writes of global memory ------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread reads and writes the elements that it holds. Coordinates are 32
// bits wide, addresses are formed in 64: coordinate times stride may exceed 32.
//
// Of a row of a 16-bit fragment a lane holds 4 bytes here and 4 bytes there, so
// the lanes of a quad exchange them before a write: each then has 16 bytes in
// one piece, and stores them at once where the row is aligned to that. Shared
// memory would do with fewer instructions, but large tiles leave none.
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/KernelAbi.h"
#include "codegen/ToNVVM/MemRefParts.h"
#include "codegen/ToNVVM/Patterns.h"
#include "codegen/ToNVVM/QuadExchange.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::attn_gpu;

using Kind = FragmentLayout::Kind;

namespace {

/// The part of a memref that a transfer op touches, as one thread sees it:
/// dimension `rowDim` runs along the vector's rows and `columnDim` along its
/// columns.
class Window {
public:
  /// None if the op permutes, broadcasts or strides in a way that threads do
  /// not read.
  template <typename OpTy>
  static std::optional<Window>
  get(ImplicitLocOpBuilder &b, OpTy op, ArrayRef<ValueRange> indices,
      ValueRange memref, const Kernel &kernel, const FragmentLayout &layout);

  /// The address of the thread's element at constant distance `row`, `column`
  /// from its first.
  Value getAddress(int64_t row, int64_t column) {
    Value offset = LLVM::AddOp::create(b, getRowOffset(row), columnOffset);
    Value start = LLVM::GEPOp::create(b, base.getType(), elementType, base,
                                      ValueRange{offset});
    if (column == 0)
      return start;
    if (columnStride) {
      Value distance =
          LLVM::MulOp::create(b, columnStride, createI64(b, column));
      return LLVM::GEPOp::create(b, base.getType(), elementType, start,
                                 ValueRange{distance});
    }
    return LLVM::GEPOp::create(
        b, base.getType(), elementType, start,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(column)});
  }

  /// Whether every column is inside the memref.
  bool hasAllColumns() const {
    return !columnDim.isPresent || columnDim.isInBounds;
  }

  /// Whether the row (column) at that distance is inside the memref; null if
  /// it always is.
  Value isRowInside(int64_t row) { return isInside(rowDim, firstRow, row); }
  Value isColumnInside(int64_t column) {
    return isInside(columnDim, firstColumn, column);
  }

private:
  explicit Window(ImplicitLocOpBuilder &b) : b(b) {}

  struct Dim {
    bool isPresent = false;
    bool isInBounds = true;
    Value size;
    Value stride;
  };

  Value getRowOffset(int64_t row) {
    if (!rowDim.isPresent)
      return fixedOffset;
    Value coordinate = LLVM::ZExtOp::create(
        b, b.getI64Type(),
        LLVM::AddOp::create(b, firstRow, createI32(b, row)).getResult());
    Value scaled = LLVM::MulOp::create(b, coordinate, rowDim.stride);
    return LLVM::AddOp::create(b, fixedOffset, scaled);
  }

  Value isInside(const Dim &dim, Value first, int64_t distance) {
    if (!dim.isPresent || dim.isInBounds)
      return {};
    Value coordinate = LLVM::AddOp::create(b, first, createI32(b, distance));
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, coordinate,
                                dim.size);
  }

  ImplicitLocOpBuilder &b;
  Value base;
  Type elementType;
  Dim rowDim, columnDim;
  /// Coordinates of the thread's first element.
  Value firstRow, firstColumn;
  /// Elements from the base to the coordinates that are the same for all
  /// elements of the vector; and what the first column adds.
  Value fixedOffset, columnOffset;
  /// Elements between columns; null if they follow each other.
  Value columnStride;
};

/// Where the thread's own coordinate is `origin` + `own`.
Value addOwn(ImplicitLocOpBuilder &b, Value origin, Value own) {
  return LLVM::AddOp::create(b, origin, own);
}

template <typename OpTy>
std::optional<Window> Window::get(ImplicitLocOpBuilder &b, OpTy op,
                                  ArrayRef<ValueRange> indices,
                                  ValueRange memref, const Kernel &kernel,
                                  const FragmentLayout &layout) {
  auto type = dyn_cast<MemRefType>(op.getBase().getType());
  AffineMap map = op.getPermutationMap();
  if (!type)
    return std::nullopt;
  bool hasRows = layout.getKind() != Kind::Columns;
  bool hasColumns = layout.getKind() != Kind::Rows;
  // Which result of the map is which: vector<R>, vector<RxN>, vector<1xN>.
  auto getDim = [&](bool isPresent,
                    unsigned result) -> std::optional<unsigned> {
    if (!isPresent)
      return std::nullopt;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(result));
    return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
  };
  std::optional<unsigned> rowDim = getDim(hasRows, 0);
  std::optional<unsigned> columnDim = getDim(hasColumns, 1);
  if (hasRows != rowDim.has_value() || hasColumns != columnDim.has_value())
    return std::nullopt;

  MemRefParts parts = takeApart(b, type, memref);
  bool hasUnitColumns = !columnDim || parts.constantStrides[*columnDim] == 1;
  if (isa<vector::TransferWriteOp>(op) && !hasUnitColumns)
    return std::nullopt;
  SmallVector<bool> inBounds = op.getInBoundsValues();
  Window window(b);
  window.base = parts.base;
  window.elementType = type.getElementType();
  window.fixedOffset = createI64(b, 0);
  window.columnOffset = createI64(b, 0);
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    Value index = indices[dim].front();
    if (dim == rowDim) {
      window.rowDim = {true, inBounds[0], parts.sizes[dim], parts.strides[dim]};
      window.firstRow = addOwn(b, index, kernel.firstRow);
      continue;
    }
    if (dim == columnDim) {
      window.columnDim = {true, inBounds[1], parts.sizes[dim],
                          parts.strides[dim]};
      window.firstColumn = addOwn(b, index, kernel.firstColumn);
      window.columnOffset =
          LLVM::ZExtOp::create(b, b.getI64Type(), window.firstColumn);
      if (!hasUnitColumns) {
        window.columnStride = parts.strides[dim];
        window.columnOffset =
            LLVM::MulOp::create(b, window.columnOffset, window.columnStride);
      }
      continue;
    }
    Value wide = LLVM::ZExtOp::create(b, b.getI64Type(), index);
    Value scaled = LLVM::MulOp::create(b, wide, parts.strides[dim]);
    window.fixedOffset = LLVM::AddOp::create(b, window.fixedOffset, scaled);
  }
  return window;
}

/// Runs `body` where `condition` holds; always if it is null.
void emitGuarded(ImplicitLocOpBuilder &b, Value condition,
                 function_ref<void()> body) {
  if (!condition)
    return body();
  auto ifOp = scf::IfOp::create(b, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  body();
}

/// Stores what a thread holds of a row of a 16-bit fragment.
class PackedRow {
public:
  /// `registers`: in the order of their columns.
  PackedRow(ImplicitLocOpBuilder &b, const Kernel &kernel,
            ArrayRef<Value> registers)
      : b(b), kernel(kernel), registers(registers),
        numExchanged(llvm::alignDown(registers.size(), kQuadSize)) {}

  /// Gives each lane 16 bytes in one piece, as far as columns fill a quad. All
  /// lanes must take part: one whose row is outside has columns of others.
  void exchange() {
    for (int64_t i = 0; i < numExchanged; i += kQuadSize)
      exchangeInQuad(b, kernel, MutableArrayRef(registers).slice(i, kQuadSize));
  }

  /// `first`: the address of the thread's first element before the exchange.
  void store(Value first);

private:
  /// Bytes of a register, and of a piece.
  static constexpr int64_t kRegisterBytes = 4;
  static constexpr int64_t kPieceBytes = kQuadSize * kRegisterBytes;

  Value advance(Value base, LLVM::GEPArg bytes) {
    return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{bytes});
  }
  Value isAligned(Value address);
  Value join(ArrayRef<Value> piece);
  void storePieces(Value start);

  ImplicitLocOpBuilder &b;
  const Kernel &kernel;
  SmallVector<Value> registers;
  int64_t numExchanged;
};

Value PackedRow::isAligned(Value address) {
  Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(), address);
  Value rest = LLVM::AndOp::create(b, bits, createI64(b, kPieceBytes - 1));
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, rest,
                              createI64(b, 0));
}

/// The registers of a piece as one vector.
Value PackedRow::join(ArrayRef<Value> piece) {
  auto type = VectorType::get(kQuadSize, b.getI32Type());
  Value joined = LLVM::PoisonOp::create(b, type);
  for (auto [i, value] : llvm::enumerate(piece))
    joined = LLVM::InsertElementOp::create(b, joined, value, createI32(b, i));
  return joined;
}

/// Pieces of a thread are those of a quad apart. Rows of any stride are legal,
/// those that FlashAttention takes are aligned.
void PackedRow::storePieces(Value start) {
  auto ifOp = scf::IfOp::create(b, TypeRange(), isAligned(start),
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  ArrayRef<Value> all(registers);
  for (int64_t i = 0; i < numExchanged; i += kQuadSize) {
    int32_t offset = i * kPieceBytes;
    b.setInsertionPoint(ifOp.thenBlock()->getTerminator());
    LLVM::StoreOp::create(b, join(all.slice(i, kQuadSize)),
                          advance(start, offset), kPieceBytes);
    b.setInsertionPoint(ifOp.elseBlock()->getTerminator());
    for (int32_t j = 0; j < kQuadSize; ++j)
      LLVM::StoreOp::create(
          b, registers[i + j],
          advance(start, static_cast<int32_t>(offset + j * kRegisterBytes)));
  }
}

void PackedRow::store(Value first) {
  for (int64_t i = numExchanged, e = registers.size(); i < e; ++i)
    LLVM::StoreOp::create(
        b, registers[i], advance(first, static_cast<int32_t>(i * kPieceBytes)));
  if (numExchanged == 0)
    return;
  // Lanes lie a register apart, pieces more. The first column is two elements,
  // a register, per lane.
  Value lane = LLVM::LShrOp::create(b, kernel.firstColumn, createI32(b, 1));
  Value toPiece =
      LLVM::MulOp::create(b, lane, createI32(b, kPieceBytes - kRegisterBytes));
  storePieces(advance(first, toPiece));
}

/// transfer_write -> per row that is inside, a store per register or piece
struct WritePattern : ThreadPattern<vector::TransferWriteOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(vector::TransferWriteOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto layout = getConverter().getLayout(op.getVectorType());
    if (!layout || layout->getKind() == Kind::Columns)
      return rewriter.notifyMatchFailure(op, "vector has no thread form");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    std::optional<Window> window = Window::get(
        b, op, adaptor.getIndices(), adaptor.getBase(), kernel, *layout);
    if (!window)
      return rewriter.notifyMatchFailure(op, "memref is not read by rows");

    std::optional<SmallVector<Value>> mask = getRowMask(op, adaptor, *layout);
    if (!mask)
      return rewriter.notifyMatchFailure(op, "mask differs within a row");

    ValueRange registers = adaptor.getValueToStore();
    int64_t perRegister = layout->isPacked() ? 2 : 1;
    SmallVector<SmallVector<int64_t>> rows(2 * layout->getNumSlabs());
    for (int64_t i = 0, e = registers.size(); i < e; ++i)
      rows[layout->getRowElement(i * perRegister)].push_back(i);
    for (int64_t number = 0, e = rows.size(); number < e; ++number) {
      ArrayRef<int64_t> row = rows[number];
      int64_t first = row.front() * perRegister;
      Value isMine = window->isRowInside(layout->getRow(first));
      if (!mask->empty())
        isMine = emitAnd(b, isMine, (*mask)[number]);
      if (layout->isPacked() && window->hasAllColumns()) {
        SmallVector<Value> values;
        for (int64_t i : row)
          values.push_back(registers[i]);
        PackedRow packed(b, kernel, values);
        packed.exchange();
        emitGuarded(b, isMine, [&] {
          packed.store(window->getAddress(layout->getRow(first), 0));
        });
        continue;
      }
      // The four lanes of a row hold the same value.
      if (layout->getKind() == Kind::Rows)
        isMine = emitAnd(b, isMine, isFirstOfQuad(b));
      emitGuarded(b, isMine, [&] {
        for (int64_t i : row)
          emitStore(b, *window, *layout, i * perRegister, registers[i]);
      });
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The mask of each of the thread's rows, empty if there is none; nothing if
  /// it is not known to be the same all along a row.
  std::optional<SmallVector<Value>>
  getRowMask(vector::TransferWriteOp op, Adaptor adaptor,
             const FragmentLayout &layout) const {
    SmallVector<Value> rows;
    if (!op.getMask())
      return rows;
    auto broadcast = op.getMask().getDefiningOp<vector::BroadcastOp>();
    auto source = broadcast ? dyn_cast<VectorType>(broadcast.getSourceType())
                            : VectorType();
    if (layout.getKind() != Kind::Fragment || !source ||
        source.getShape().back() != 1)
      return std::nullopt;
    rows.resize(2 * layout.getNumSlabs());
    for (auto [i, value] : llvm::enumerate(adaptor.getMask()))
      rows[layout.getRowElement(i)] = value;
    return rows;
  }

  Value isFirstOfQuad(ImplicitLocOpBuilder &b) const {
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, kernel.firstColumn,
                                createI32(b, 0));
  }

  static void emitStore(ImplicitLocOpBuilder &b, Window &window,
                        const FragmentLayout &layout, int64_t element,
                        Value value) {
    int64_t row = layout.getRow(element), column = layout.getColumn(element);
    // Columns come and go in units of 8, so that a pair is never cut.
    emitGuarded(b, window.isColumnInside(column), [&] {
      LLVM::StoreOp::create(b, value, window.getAddress(row, column));
    });
  }
};

/// transfer_read -> a load per element that is inside, else the padding
struct ReadPattern : ThreadPattern<vector::TransferReadOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(vector::TransferReadOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto layout = getConverter().getLayout(op.getVectorType());
    if (!layout || op.getMask())
      return rewriter.notifyMatchFailure(op, "vector has no thread form");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    std::optional<Window> window = Window::get(
        b, op, adaptor.getIndices(), adaptor.getBase(), kernel, *layout);
    if (!window)
      return rewriter.notifyMatchFailure(op, "memref is not read by rows");
    Value padding = adaptor.getPadding().front();
    SmallVector<Value> result;
    int64_t perRegister = layout->isPacked() ? 2 : 1;
    for (int64_t i = 0, e = layout->getNumElements(); i < e; i += perRegister) {
      Value value = emitLoad(b, *window, *layout, i, padding);
      if (layout->isPacked())
        value =
            emitPair(b, value, emitLoad(b, *window, *layout, i + 1, padding));
      result.push_back(value);
    }
    replaceByRegisters(rewriter, op, result);
    return success();
  }

private:
  /// Two 16-bit values as one register, the first in the low half.
  static Value emitPair(ImplicitLocOpBuilder &b, Value low, Value high) {
    auto widen = [&](Value half) -> Value {
      Value bits = LLVM::BitcastOp::create(b, b.getI16Type(), half);
      return LLVM::ZExtOp::create(b, b.getI32Type(), bits);
    };
    Value upper = LLVM::ShlOp::create(b, widen(high), createI32(b, 16));
    return LLVM::OrOp::create(b, widen(low), upper);
  }

  static Value emitLoad(ImplicitLocOpBuilder &b, Window &window,
                        const FragmentLayout &layout, int64_t element,
                        Value padding) {
    int64_t row = layout.getRow(element), column = layout.getColumn(element);
    auto load = [&]() -> Value {
      return LLVM::LoadOp::create(b, padding.getType(),
                                  window.getAddress(row, column));
    };
    Value isInside =
        emitAnd(b, window.isRowInside(row), window.isColumnInside(column));
    if (!isInside)
      return load();
    auto ifOp = scf::IfOp::create(b, padding.getType(), isInside,
                                  /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    scf::YieldOp::create(b, load());
    b.setInsertionPointToStart(ifOp.elseBlock());
    scf::YieldOp::create(b, padding);
    return ifOp.getResult(0);
  }
};

} // namespace

void mlir::attn_gpu::populateTransferPatterns(
    RewritePatternSet &patterns, const ThreadTypeConverter &converter,
    const Kernel &kernel) {
  patterns.add<ReadPattern, WritePattern>(converter, kernel,
                                          patterns.getContext());
}
