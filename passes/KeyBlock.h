//===- KeyBlock.h - A few keys of a tile, computed again --------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of `attn.tile_loop` computes scores and weights of a whole tile of
// keys. A key block does it again for a few of them, anywhere behind the loop,
// by cloning what they are computed from with fewer columns:
//
//   %p = softmax_weights (%s + %bias) ...  : vector<64x80xf32>
//     ->  the same ops on vector<64x16xf32>, with %bias read for 16 keys
//
// It knows what a column is, not what is done to the scores: elementwise ops,
// broadcasts of rows and columns, and reads of memory. The one op that it does
// not clone is the product of two tiles, which it computes without the tensor
// cores. Masks hide nothing from it; which keys are visible, it says apart.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_KEYBLOCK_H
#define ATTN_PASSES_KEYBLOCK_H

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::attn {

class KeyBlock {
public:
  /// A block of `size` keys from key `first` on, of what `loop` computes. Ops
  /// go where `builder` stands.
  KeyBlock(OpBuilder &builder, TileLoopOp loop, int64_t size, Value first)
      : builder(builder), loop(loop), size(size), first(first) {
    rows.map(loop.getPosition(), first);
  }

  /// Takes `replacement` for `value` of the body, one per row or one at all.
  void replace(Value value, Value replacement) { rows.map(value, replacement); }

  /// `value` of the body, which has a column for each key of the tile, for the
  /// keys of the block. Null where it depends on something else than the keys,
  /// or is computed by ops that are not known.
  Value compute(Value value);

  /// Whether each row sees each key of the block.
  Value computeVisible(int64_t numRows);

  /// What was in the way where a result is null.
  Operation *getBlocker() { return blocker ? blocker : loop.getOperation(); }

private:
  Value block(Operation *op) {
    if (!blocker)
      blocker = op;
    return {};
  }
  Type narrow(Type type);
  Value computeRows(Value value);
  Value cloneOp(Operation *op);
  Value cloneMask(TileMaskOpInterface mask, Value scores);
  Value cloneRead(vector::TransferReadOp read);
  Value multiply(vector::ContractionOp product);
  Value readColumn(vector::TransferReadOp read, Value column, VectorType type);

  OpBuilder &builder;
  TileLoopOp loop;
  int64_t size;
  Value first;
  /// Values with a column per key, and others.
  IRMapping columns, rows;
  Operation *blocker = nullptr;
};

/// The dimension of the memref that result `number` of a transfer's map names.
template <typename OpTy>
unsigned getTransferDim(OpTy transfer, unsigned number) {
  AffineMap map = transfer.getPermutationMap();
  return cast<AffineDimExpr>(map.getResult(number)).getPosition();
}

} // namespace mlir::attn

#endif // ATTN_PASSES_KEYBLOCK_H
