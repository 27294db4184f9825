//===- TileLoops.cpp - What passes ask of attn.tile_loop ------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/TileLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::attn;

Value mlir::attn::createPosition(OpBuilder &builder, TileLoopOp loop,
                                 Value iteration) {
  Location loc = loop.getLoc();
  Value tile;
  if (loop.getDescending()) {
    // As (first + 1) - (iteration + 1): the first sum is most often the number
    // of tiles, the second the next iteration, which loops hold anyway.
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    tile = builder.createOrFold<arith::SubIOp>(
        loc, builder.createOrFold<arith::AddIOp>(loc, loop.getFirst(), one),
        builder.createOrFold<arith::AddIOp>(loc, iteration, one));
  } else {
    tile = builder.createOrFold<arith::AddIOp>(loc, iteration, loop.getFirst());
  }
  Value step = arith::ConstantIndexOp::create(builder, loc, loop.getStep());
  return builder.createOrFold<arith::MulIOp>(loc, tile, step);
}

bool mlir::attn::sharesCode(TileLoopOp loop, ScheduleAttr schedule) {
  std::optional<unsigned> accumulator =
      loop.findCarried(CarriedRole::Accumulator);
  if (!schedule || !accumulator || loop.getKind(0) == SegmentKind::Tail)
    return false;
  auto type = dyn_cast<VectorType>(loop.getInits()[*accumulator].getType());
  return type && type.getRank() == 2 &&
         type.getDimSize(1) >= schedule.getSharedLoopColumns();
}
