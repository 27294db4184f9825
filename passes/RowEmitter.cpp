//===- RowEmitter.cpp - What tile ops compute for one row -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/RowEmitter.h"
#include "passes/RowVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::attn;

/// Columns that a product works on at a time: as many as stay in the vector
/// registers of a CPU over the whole inner dimension.
static constexpr int64_t kColumns = 32;
/// Terms that are added up one by one. Every addition rounds a sum that may be
/// much larger than what is left in the end; short sums are rounded less.
static constexpr int64_t kTerms = 32;

Type mlir::attn::getRowType(VectorType tile) {
  if (tile.getRank() == 1)
    return tile.getElementType();
  return VectorType::get(tile.getShape().drop_front(), tile.getElementType());
}

bool mlir::attn::isCheapToRepeat(Operation *op) {
  auto broadcast = dyn_cast<vector::BroadcastOp>(op);
  return isa<arith::ConstantOp, vector::StepOp>(op) ||
         (broadcast && !isa<VectorType>(broadcast.getSourceType()));
}

static Value createIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// A float or vector of floats in another element type.
static Value convertFloat(OpBuilder &builder, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type to = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(element);
  return arith::ExtFOp::create(builder, value.getLoc(), to, value);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static unsigned getTensorDim(AffineMap map, unsigned vectorDim) {
  return cast<AffineDimExpr>(map.getResult(vectorDim)).getPosition();
}

namespace {

/// Where a row of a tensor starts, and whether that is inside the tensor; no
/// condition where it must be.
struct RowPlace {
  SmallVector<Value> indices;
  Value isInside;
};

} // namespace

/// The place of row number `row` of what `transfer` reads or writes.
static RowPlace locateRow(OpBuilder &builder,
                          VectorTransferOpInterface transfer, Value row) {
  Location loc = transfer.getLoc();
  unsigned dim = getTensorDim(transfer.getPermutationMap(), 0);
  SmallVector<Value> indices(transfer.getIndices());
  indices[dim] = arith::AddIOp::create(builder, loc, indices[dim], row);
  if (transfer.isDimInBounds(0))
    return {std::move(indices), Value()};
  Value size = memref::DimOp::create(builder, loc, transfer.getBase(), dim);
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, indices[dim], size);
  return {std::move(indices), isInside};
}

/// The map and the bounds of a transfer of one row.
static std::pair<AffineMapAttr, ArrayAttr>
describeRow(OpBuilder &builder, VectorTransferOpInterface transfer) {
  AffineMap map = transfer.getPermutationMap();
  return {AffineMapAttr::get(AffineMap::get(
              map.getNumDims(), 0, map.getResult(1), builder.getContext())),
          builder.getBoolArrayAttr({transfer.isDimInBounds(1)})};
}

/// Row number `row` of what `read` reads: padding outside the tensor.
static Value readRow(OpBuilder &builder, vector::TransferReadOp read,
                     Value row) {
  Location loc = read.getLoc();
  Type type = getRowType(read.getVectorType());
  RowPlace place = locateRow(builder, read, row);
  auto load = [&](OpBuilder &builder) -> Value {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector)
      return memref::LoadOp::create(builder, loc, read.getBase(),
                                    place.indices);
    auto [map, inBounds] = describeRow(builder, read);
    return vector::TransferReadOp::create(builder, loc, vector, read.getBase(),
                                          place.indices, map, read.getPadding(),
                                          /*mask=*/Value(), inBounds);
  };
  if (!place.isInside)
    return load(builder);
  auto choice = scf::IfOp::create(
      builder, loc, place.isInside,
      [&](OpBuilder &nested, Location) {
        scf::YieldOp::create(nested, loc, load(nested));
      },
      [&](OpBuilder &nested, Location) {
        Value padding = read.getPadding();
        if (isa<VectorType>(type))
          padding = vector::BroadcastOp::create(nested, loc, type, padding);
        scf::YieldOp::create(nested, loc, padding);
      });
  return choice.getResult(0);
}

LogicalResult RowEmitter::emitWrite(vector::TransferWriteOp op) {
  Location loc = op.getLoc();
  FailureOr<Value> value = get(op.getValueToStore());
  if (failed(value))
    return failure();
  RowPlace place = locateRow(builder, op, row);
  auto store = [&](OpBuilder &builder) {
    if (!isa<VectorType>(value->getType())) {
      memref::StoreOp::create(builder, loc, *value, op.getBase(),
                              place.indices);
      return;
    }
    auto [map, inBounds] = describeRow(builder, op);
    vector::TransferWriteOp::create(builder, loc, *value, op.getBase(),
                                    place.indices, map, inBounds);
  };
  if (!place.isInside) {
    store(builder);
    return success();
  }
  scf::IfOp::create(builder, loc, place.isInside,
                    [&](OpBuilder &nested, Location) {
                      store(nested);
                      scf::YieldOp::create(nested, loc);
                    });
  return success();
}

Value mlir::attn::emitMatrix(OpBuilder &builder, RowMemory &memory,
                             vector::TransferReadOp read, Type element,
                             bool isTransposed) {
  Location loc = read.getLoc();
  SmallVector<int64_t, 2> shape(read.getVectorType().getShape());
  int64_t rows = shape[0], columns = shape[1];
  if (isTransposed)
    std::swap(shape[0], shape[1]);
  Value matrix = memory.allocate(MemRefType::get(shape, element));
  auto makeLoop = [&](int64_t end) {
    auto loop = scf::ForOp::create(builder, loc, createIndex(builder, loc, 0),
                                   createIndex(builder, loc, end),
                                   createIndex(builder, loc, 1));
    builder.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  OpBuilder::InsertionGuard guard(builder);
  Value row = makeLoop(rows);
  Value values = convertFloat(builder, readRow(builder, read, row), element);
  Value zero = createIndex(builder, loc, 0);
  if (!isTransposed) {
    vector::StoreOp::create(builder, loc, values, matrix,
                            ValueRange{row, zero});
    return matrix;
  }
  // Element by element out of memory, where an index may vary.
  Value scratch = memory.allocate(MemRefType::get({columns}, element));
  vector::StoreOp::create(builder, loc, values, scratch, zero);
  Value column = makeLoop(columns);
  Value value = memref::LoadOp::create(builder, loc, scratch, column);
  memref::StoreOp::create(builder, loc, value, matrix, ValueRange{column, row});
  return matrix;
}

//===----------------------------------------------------------------------===//
// Rows in memory
//===----------------------------------------------------------------------===//

FailureOr<Value> RowEmitter::get(Value tile) {
  if (Value value = computed.lookup(tile))
    return value;
  Operation *op = tile.getDefiningOp();
  if (Value buffer = memory.rows.lookup(tile)) {
    Location loc = tile.getLoc();
    Type type = getRowType(cast<VectorType>(tile.getType()));
    Value value;
    if (auto vector = dyn_cast<VectorType>(type))
      value =
          vector::LoadOp::create(builder, loc, vector, buffer,
                                 ValueRange{row, createIndex(builder, loc, 0)});
    else
      value = memref::LoadOp::create(builder, loc, buffer, row);
    return computed[tile] = value;
  }
  if (!op || !isCheapToRepeat(op))
    return emitError(tile.getLoc())
           << "expected a value of this tile loop, but got " << tile;
  if (failed(emit(op)))
    return failure();
  return computed.lookup(tile);
}

void RowEmitter::store(Value value, Value buffer) {
  Location loc = value.getLoc();
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(builder, loc, value, buffer,
                            ValueRange{row, createIndex(builder, loc, 0)});
  else
    memref::StoreOp::create(builder, loc, value, buffer, row);
}

/// A buffer with the row of `tile`, and the indices of the row in it.
FailureOr<std::pair<Value, SmallVector<Value>>>
RowEmitter::getInMemory(Value tile) {
  if (Value buffer = memory.rows.lookup(tile))
    return std::make_pair(buffer, SmallVector<Value>{row});
  FailureOr<Value> value = get(tile);
  if (failed(value))
    return failure();
  auto type = cast<VectorType>(value->getType());
  Value scratch =
      memory.allocate(MemRefType::get(type.getShape(), type.getElementType()));
  vector::StoreOp::create(builder, tile.getLoc(), *value, scratch,
                          createIndex(builder, tile.getLoc(), 0));
  return std::make_pair(scratch, SmallVector<Value>());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

FailureOr<Value> RowEmitter::emitConstant(Operation *op) {
  DenseElementsAttr dense;
  if (!matchPattern(op->getResult(0), m_Constant(&dense)) || !dense.isSplat())
    return op->emitOpError() << "expected a splat in a tile loop";
  Type type = getRowType(cast<VectorType>(dense.getType()));
  auto value = dense.getSplatValue<TypedAttr>();
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(builder, op->getLoc(), value).getResult();
}

FailureOr<Value> RowEmitter::emitBroadcast(vector::BroadcastOp op) {
  Type type = getRowType(op.getResultVectorType());
  Value source = op.getSource();
  if (auto vector = dyn_cast<VectorType>(source.getType())) {
    // Where there is one row, folds leave out that its value is a column.
    if (vector.getShape().back() != 1)
      return op.emitOpError()
             << "expected a scalar or a column, but got " << vector;
    FailureOr<Value> column = get(source);
    if (failed(column))
      return failure();
    source = *column;
  }
  if (type == source.getType())
    return source;
  return vector::BroadcastOp::create(builder, op.getLoc(), type, source)
      .getResult();
}

FailureOr<Value> RowEmitter::emitShapeCast(vector::ShapeCastOp op) {
  VectorType from = op.getSourceVectorType(), to = op.getResultVectorType();
  if (from.getRank() != 1 || to.getRank() != 2)
    return op.emitOpError()
           << "expected a vector as a column, but got " << from << " as " << to;
  FailureOr<Value> value = get(op.getSource());
  if (failed(value))
    return failure();
  return vector::BroadcastOp::create(builder, op.getLoc(), getRowType(to),
                                     *value)
      .getResult();
}

FailureOr<Value> RowEmitter::emitElementwise(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<VectorType>(operand.getType())) {
      operands.push_back(operand);
      continue;
    }
    FailureOr<Value> value = get(operand);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  OperationState state(op->getLoc(), op->getName(), operands,
                       getRowType(cast<VectorType>(op->getResult(0).getType())),
                       op->getAttrs());
  return builder.create(state)->getResult(0);
}

FailureOr<Value> RowEmitter::emitReduction(vector::MultiDimReductionOp op) {
  if (op.getReductionDims() != ArrayRef<int64_t>{1})
    return op.emitOpError() << "expected a reduction of columns";
  FailureOr<Value> source = get(op.getSource()), initial = get(op.getAcc());
  if (failed(source) || failed(initial))
    return failure();
  // Any order of a sum will do, and one by one is the slowest.
  auto flags = op.getKind() == vector::CombiningKind::ADD
                   ? arith::FastMathFlags::reassoc
                   : arith::FastMathFlags::none;
  return vector::ReductionOp::create(builder, op.getLoc(), op.getKind(),
                                     *source, *initial, flags)
      .getResult();
}

/// The ends of the row's interval, counted in columns of the tile.
FailureOr<std::pair<Value, Value>> RowEmitter::getColumns(MaskBandOp op) {
  FailureOr<Value> lower = get(op.getLower()), upper = get(op.getUpper());
  if (failed(lower) || failed(upper))
    return failure();
  auto inTile = [&](Value key) -> Value {
    return arith::SubIOp::create(builder, op.getLoc(), key, op.getFirst());
  };
  return std::make_pair(inTile(*lower), inTile(*upper));
}

FailureOr<Value> RowEmitter::emitMask(MaskBandOp op) {
  Location loc = op.getLoc();
  FailureOr<Value> scores = get(op.getScores());
  FailureOr<std::pair<Value, Value>> columns = getColumns(op);
  if (failed(scores) || failed(columns))
    return failure();
  auto type = cast<VectorType>(scores->getType());
  VectorType positions = type.clone(builder.getIndexType());
  Value column = vector::StepOp::create(builder, loc, positions);
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
    Value bounds = vector::BroadcastOp::create(builder, loc, positions, bound);
    return arith::CmpIOp::create(builder, loc, predicate, column, bounds);
  };
  Value isVisible = arith::AndIOp::create(
      builder, loc, compare(arith::CmpIPredicate::sge, columns->first),
      compare(arith::CmpIPredicate::slt, columns->second));
  return arith::SelectOp::create(builder, loc, isVisible, *scores,
                                 createSplat(builder, loc, type, -INFINITY))
      .getResult();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::optional<ProductKind>
mlir::attn::getProductKind(vector::ContractionOp op) {
  MLIRContext *context = op.getContext();
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  auto matches = [&](AffineExpr row, AffineExpr column) {
    auto map = [&](AffineExpr first, AffineExpr second) {
      return AffineMap::get(3, 0, {first, second}, context);
    };
    return op.getIndexingMapsArray() ==
           SmallVector<AffineMap>{map(m, k), map(row, column), map(m, n)};
  };
  if (op.getKind() != vector::CombiningKind::ADD)
    return std::nullopt;
  if (matches(k, n))
    return ProductKind::Plain;
  if (matches(n, k))
    return ProductKind::TransposedB;
  return std::nullopt;
}

/// The op that masks what `weights` are computed from, element by element.
static MaskBandOp findMask(Value weights) {
  Operation *op = weights.getDefiningOp();
  if (!op || cast<VectorType>(weights.getType()).getRank() != 2)
    return {};
  if (auto mask = dyn_cast<MaskBandOp>(op))
    return mask;
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return {};
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()))
      if (MaskBandOp mask = findMask(operand))
        return mask;
  return {};
}

/// The columns of the row of `weights` that its mask leaves. The others are 0,
/// and 0 times NaN is NaN: a key that the row does not see must not take part.
FailureOr<std::pair<Value, Value>> RowEmitter::getVisibleKeys(Value weights) {
  Location loc = weights.getLoc();
  Value zero = createIndex(builder, loc, 0);
  Value end = createIndex(builder, loc,
                          cast<VectorType>(weights.getType()).getDimSize(1));
  MaskBandOp mask = findMask(weights);
  if (!mask)
    return std::make_pair(zero, end);
  FailureOr<std::pair<Value, Value>> columns = getColumns(mask);
  if (failed(columns))
    return failure();
  return std::make_pair(
      arith::MaxSIOp::create(builder, loc, columns->first, zero).getResult(),
      arith::MinSIOp::create(builder, loc, columns->second, end).getResult());
}

namespace {

/// A row times a matrix, some columns at a time.
struct RowProduct {
  Location loc;
  Value left;
  SmallVector<Value> leftIndices;
  Value matrix;
  /// Of the inner dimension.
  Value begin, end;

  /// Where all terms are added up one by one.
  bool isShort;

  /// accumulator + left * the columns of the matrix from `column` on. A long
  /// sum is one of sums of `kTerms` terms each.
  Value build(OpBuilder &builder, Value column, Value accumulator) {
    if (isShort)
      return addTerms(builder, column, begin, end, accumulator);
    Value step = createIndex(builder, loc, kTerms);
    auto loop = scf::ForOp::create(
        builder, loc, begin, end, step, accumulator,
        [&](OpBuilder &nested, Location, Value first, ValueRange carried) {
          Value last = arith::MinSIOp::create(
              nested, loc, arith::AddIOp::create(nested, loc, first, step),
              end);
          Value none = arith::ConstantOp::create(
              nested, loc, nested.getZeroAttr(accumulator.getType()));
          Value part = addTerms(nested, column, first, last, none);
          Value sum = arith::AddFOp::create(nested, loc, carried.front(), part);
          scf::YieldOp::create(nested, loc, sum);
        });
    return loop.getResult(0);
  }

private:
  /// The terms in [from, to) on top of `accumulator`.
  Value addTerms(OpBuilder &builder, Value column, Value from, Value to,
                 Value accumulator) {
    auto type = cast<VectorType>(accumulator.getType());
    auto loop = scf::ForOp::create(
        builder, loc, from, to, createIndex(builder, loc, 1), accumulator,
        [&](OpBuilder &nested, Location, Value inner, ValueRange carried) {
          SmallVector<Value> indices(leftIndices);
          indices.push_back(inner);
          Value factor = convertFloat(
              nested, memref::LoadOp::create(nested, loc, left, indices),
              type.getElementType());
          Value columns = vector::LoadOp::create(nested, loc, type, matrix,
                                                 ValueRange{inner, column});
          Value factors =
              vector::BroadcastOp::create(nested, loc, type, factor);
          Value sum = math::FmaOp::create(nested, loc, factors, columns,
                                          carried.front());
          scf::YieldOp::create(nested, loc, sum);
        });
    return loop.getResult(0);
  }
};

} // namespace

/// The largest divisor of `columns` that is at most `kColumns`.
static int64_t getStep(int64_t columns) {
  int64_t step = std::min(columns, kColumns);
  while (columns % step != 0)
    --step;
  return step;
}

FailureOr<Value> RowEmitter::emitProduct(vector::ContractionOp op) {
  Location loc = op.getLoc();
  FailureOr<std::pair<Value, SmallVector<Value>>> left =
      getInMemory(op.getLhs());
  FailureOr<std::pair<Value, Value>> keys = getVisibleKeys(op.getLhs());
  FailureOr<Value> accumulator = get(op.getAcc());
  Value matrix = memory.matrices.lookup(op.getRhs());
  if (failed(left) || failed(keys) || failed(accumulator))
    return failure();
  bool isShort = op.getLhsType().getDimSize(1) <= kTerms;
  RowProduct product{loc,         left->first,  left->second, matrix,
                     keys->first, keys->second, isShort};
  auto type = cast<VectorType>(accumulator->getType());
  Value zero = createIndex(builder, loc, 0);
  int64_t step = getStep(type.getDimSize(0));
  if (step == type.getDimSize(0))
    return product.build(builder, zero, *accumulator);

  Value sums =
      memory.allocate(MemRefType::get(type.getShape(), type.getElementType()));
  vector::StoreOp::create(builder, loc, *accumulator, sums, zero);
  scf::ForOp::create(
      builder, loc, zero, createIndex(builder, loc, type.getDimSize(0)),
      createIndex(builder, loc, step), ValueRange(),
      [&](OpBuilder &nested, Location, Value column, ValueRange) {
        auto part = VectorType::get({step}, type.getElementType());
        Value before = vector::LoadOp::create(nested, loc, part, sums, column);
        Value after = product.build(nested, column, before);
        vector::StoreOp::create(nested, loc, after, sums, column);
        scf::YieldOp::create(nested, loc);
      });
  return vector::LoadOp::create(builder, loc, type, sums, zero).getResult();
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// Every tile that `op` computes with row by row has the rows of the loop.
LogicalResult RowEmitter::checkRows(Operation *op) {
  SmallVector<Value> tiles(op->getResults());
  if (auto product = dyn_cast<vector::ContractionOp>(op))
    tiles.push_back(product.getLhs());
  else
    llvm::append_range(tiles, op->getOperands());
  for (Value tile : tiles) {
    auto type = dyn_cast<VectorType>(tile.getType());
    if (type && (type.getRank() > 2 || type.getRank() == 0 ||
                 type.getDimSize(0) != numRows))
      return op->emitOpError() << "expected " << numRows
                               << " rows in a tile loop, but got " << type;
  }
  return success();
}

FailureOr<Value> RowEmitter::emitResult(Operation *op) {
  if (isa<arith::ConstantOp>(op))
    return emitConstant(op);
  if (isa<vector::StepOp>(op))
    return row;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return emitBroadcast(broadcast);
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op))
    return emitShapeCast(cast);
  if (auto read = dyn_cast<vector::TransferReadOp>(op))
    return readRow(builder, read, row);
  if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op))
    return emitReduction(reduction);
  if (auto mask = dyn_cast<MaskBandOp>(op))
    return emitMask(mask);
  if (auto product = dyn_cast<vector::ContractionOp>(op))
    return emitProduct(product);
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1)
    return emitElementwise(op);
  return op->emitOpError() << "cannot be computed row by row";
}

LogicalResult RowEmitter::emit(Operation *op) {
  if (failed(checkRows(op)))
    return failure();
  if (auto write = dyn_cast<vector::TransferWriteOp>(op))
    return emitWrite(write);
  FailureOr<Value> value = emitResult(op);
  if (failed(value))
    return failure();
  computed[op->getResult(0)] = *value;
  return success();
}
