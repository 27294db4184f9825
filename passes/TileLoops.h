//===- TileLoops.h - What passes ask of attn.tile_loop ----------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What more than one pass takes from a loop over tiles.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_TILELOOPS_H
#define ATTN_PASSES_TILELOOPS_H

#include "dialect/attn/AttnDialect.h"

namespace mlir::attn {

/// Where the tile of `iteration` starts: what the region's second argument is
/// in that iteration.
Value createPosition(OpBuilder &builder, TileLoopOp loop, Value iteration);

/// Whether iterations of all kinds, and a pipeline's first one, share one copy
/// of the body: where accumulators have the schedule's `shared_loop_columns`. A
/// first segment of one iteration is no loop to share code with.
bool sharesCode(TileLoopOp loop, ScheduleAttr schedule);

} // namespace mlir::attn

#endif // ATTN_PASSES_TILELOOPS_H
