//===- AsyncMatmuls.cpp - attn-async-matmuls ------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vector.contract %a, (tile_value %b), %c
//   ->  %f = attn_gpu.mma_async %a, %b accumulator(%c)
//       attn_gpu.mma_wait %f pending(0)
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNASYNCMATMULSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

/// Whether a contraction is `(m,k) x (k,n)`, or with `transposed` `(m,k) x
/// (n,k)`, into `(m,n)`.
static bool isProduct(vector::ContractionOp op, bool transposed) {
  MLIRContext *context = op.getContext();
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  auto map = [&](AffineExpr row, AffineExpr column) {
    return AffineMap::get(3, 0, {row, column}, context);
  };
  return op.getKind() == vector::CombiningKind::ADD &&
         op.getIndexingMapsArray() ==
             SmallVector<AffineMap>{
                 map(m, k), transposed ? map(n, k) : map(k, n), map(m, n)};
}

static LogicalResult rewrite(vector::ContractionOp op) {
  auto right = op.getRhs().getDefiningOp<attn_gpu::TileValueOp>();
  bool transposed = isProduct(op, /*transposed=*/true);
  if (!right || !(transposed || isProduct(op, /*transposed=*/false)))
    return op.emitOpError()
           << "expected a product with a tile in shared memory "
              "on the right";
  Value left = op.getLhs();
  if (auto tile = left.getDefiningOp<attn_gpu::TileValueOp>())
    left = tile.getTile();
  Value accumulator = op.getAcc();
  if (matchPattern(accumulator, m_AnyZeroFloat()))
    accumulator = {};
  auto type = cast<VectorType>(op.getResultType());
  OpBuilder builder(op);
  auto product = attn_gpu::MMAAsyncOp::create(
      builder, op.getLoc(),
      attn_gpu::InflightType::get(op.getContext(), type.getShape(),
                                  type.getElementType()),
      left, right.getTile(), accumulator, transposed);
  Value result = attn_gpu::MMAWaitOp::create(builder, op.getLoc(), product,
                                             builder.getI64IntegerAttr(0));
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

namespace {

struct AttnAsyncMatmuls
    : attn::impl::AttnAsyncMatmulsPassBase<AttnAsyncMatmuls> {
  void runOnOperation() override {
    auto schedule = getOperation()->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    if (!schedule || schedule.getStyle() == Style::Host)
      return;
    SmallVector<vector::ContractionOp> products;
    getOperation().walk(
        [&](vector::ContractionOp op) { products.push_back(op); });
    for (vector::ContractionOp op : products)
      if (failed(rewrite(op)))
        return signalPassFailure();
    getOperation().walk([](attn_gpu::TileValueOp op) {
      if (op.use_empty())
        op.erase();
    });
  }
};

} // namespace
