//===- RowEmitter.h - What tile ops compute for one row ---------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of MxN values is M rows of N, a vector of M is M rows of one value,
// and most ops on them compute row r of the result from row r of the operands:
//
//   %m = vector.multi_reduction <maxnumf>, %s, %old [1] : vector<MxNxT>
//   row r:  %m_r = vector.reduction <maxnumf>, %s_r, %old_r : vector<NxT>
//
// The exception is the right operand of a product, all of which every row
// meets: a matrix, which is copied to memory first.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_ROWEMITTER_H
#define ATTN_PASSES_ROWEMITTER_H

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::attn {

/// Memory of one tile loop: what outlives a loop over rows.
struct RowMemory {
  /// Of M rows of a value that is used in another loop: MxN, or M.
  DenseMap<Value, Value> rows;
  /// Of right operands of products: inner dimension x columns, in the type of
  /// the accumulator.
  DenseMap<Value, Value> matrices;
  /// Makes room for the duration of the tile loop's body.
  std::function<Value(MemRefType)> allocate;
};

/// What row r of a value of type `tile` is: vector<N> or a scalar.
Type getRowType(VectorType tile);

/// Whether making the results of `op` anew costs no more than loading them.
bool isCheapToRepeat(Operation *op);

/// Whether a contraction is A * B or A * B^T, and which.
enum class ProductKind { Plain, TransposedB };
std::optional<ProductKind> getProductKind(vector::ContractionOp op);

/// Copies the tile that `read` reads to memory, as a matrix of `element`s.
Value emitMatrix(OpBuilder &builder, RowMemory &memory,
                 vector::TransferReadOp read, Type element, bool isTransposed);

/// Writes the ops of one row at the builder's insertion point.
class RowEmitter {
public:
  /// `row` is the row's number among `numRows`.
  RowEmitter(OpBuilder &builder, RowMemory &memory, int64_t numRows, Value row)
      : builder(builder), memory(memory), numRows(numRows), row(row) {}

  /// Computes the row of every result of `op`. An op that does not work row by
  /// row is an error.
  LogicalResult emit(Operation *op);

  /// The row of `tile`: computed here, or loaded, or made anew.
  FailureOr<Value> get(Value tile);

  void store(Value value, Value buffer);

private:
  using Emitter = FailureOr<Value> (RowEmitter::*)(Operation *);

  FailureOr<Value> emitResult(Operation *op);
  FailureOr<Value> emitBroadcast(vector::BroadcastOp op);
  FailureOr<Value> emitConstant(Operation *op);
  FailureOr<Value> emitShapeCast(vector::ShapeCastOp op);
  FailureOr<Value> emitElementwise(Operation *op);
  FailureOr<Value> emitReduction(vector::MultiDimReductionOp op);
  FailureOr<std::pair<Value, Value>> getColumns(MaskBandOp op);
  FailureOr<Value> emitMask(MaskBandOp op);
  FailureOr<Value> emitProduct(vector::ContractionOp op);
  LogicalResult emitWrite(vector::TransferWriteOp op);
  FailureOr<std::pair<Value, SmallVector<Value>>> getInMemory(Value tile);
  FailureOr<std::pair<Value, Value>> getVisibleKeys(Value weights);
  LogicalResult checkRows(Operation *op);

  OpBuilder &builder;
  RowMemory &memory;
  int64_t numRows;
  Value row;
  DenseMap<Value, Value> computed;
};

} // namespace mlir::attn

#endif // ATTN_PASSES_ROWEMITTER_H
