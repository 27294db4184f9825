//===- Passes.td - From the attention op to a kernel -------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PASSES_PASSES_TD
#define ATTN_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Problem to tiles
//===----------------------------------------------------------------------===//

def AttnSelectSchedulePass
    : Pass<"attn-select-schedule", "::mlir::func::FuncOp"> {
  let summary = "decide tile sizes, stages, roles and registers of each attention op";
  let description = [{
    Stamps `#attn.schedule` on every `attn.attention` without one: the first
    row of a table (`attn.tuned`) that is meant for the problem and fits the
    target. An op that has one keeps it if the target can carry it out; otherwise the pass fails
    and says which limit is in the way.

    Requires: nothing. Guarantees: every `attn.attention` has a schedule that
    fits its target.

    Example: test/passes/attn-select-schedule-doctest.mlir
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_90a\"",
           "the target to decide for, e.g. sm_90a">,
    Option<"style", "style", "std::string", "\"\"",
           "fa2 or fa3; empty: what suits the target best">,
    Option<"schedules", "schedules", "std::string", "\"\"",
           "a file with the table of schedules; empty: the one built in">
  ];
  let dependentDialects = ["::mlir::attn::AttnDialect"];
}

def AttnTilePass : Pass<"attn-tile", "::mlir::func::FuncOp"> {
  let summary = "lower attention to the textbook algorithm on tiles";
  let description = [{
    `attn.attention` becomes an `attn.tile_grid` over (batch, head, query tile)
    and the workers that share a tile's rows, and within it softmax attention as
    textbooks have it, on builtin vectors: one `attn.tile_loop` over the keys
    finds the row maximum, a second sums the weights and applies them to V.
    Reads past a tensor's end give zeros.

    Requires: memrefs, a schedule, and of the optional operands and regions
    those of the mask and the softcap alone; others are an error. Guarantees: no
    `attn.attention` remains.

    Example: test/passes/attn-tile-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn::AttnDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def AttnFuseOnlineSoftmaxPass
    : Pass<"attn-fuse-online-softmax", "::mlir::func::FuncOp"> {
  let summary = "fuse the maximum loop into the loop that uses it";
  let description = [{
    Two loops over the same tiles, the first yielding a row maximum of scores,
    the second summing `attn.softmax_weights` relative to it, become one that
    carries both. Whenever the maximum grows, `attn.rescale` moves the sums so
    far to the new one. No score is computed twice any more and none is kept.

    The pass checks that both loops compute the same scores, that the second
    uses what it carries only as an accumulator, from 0 on, of sums linear in
    the weights, and that nothing writes in between; a remark says what is in
    the way.

    Example: test/passes/attn-fuse-online-softmax-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn::AttnDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def AttnSplitMaskedTilesPass
    : Pass<"attn-split-masked-tiles", "::mlir::func::FuncOp"> {
  let summary = "leave out hidden key tiles, and compare only where it matters";
  let description = [{
    The interval of keys that a row sees has ends that do not decrease from row
    to row. So the first and the last row of a query tile tell which key tiles
    are skipped, which are full (every row sees every key) and which are partial.
    A loop over all key tiles gets up to three segments, from the last key to
    the first: partial tiles at the upper end, full ones, partial ones at the
    lower end. The first iteration always counts as partial.

    The ends are asked of the mask that `attn.band` holds. They depend on the
    tile of the grid and not on the worker, so that every role of a kernel can
    compute them.

    Requires: `attn.mask_band` with the bounds of one `attn.band`.

    Example: test/passes/attn-split-masked-tiles-doctest.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::attn::AttnDialect"];
}

//===----------------------------------------------------------------------===//
// Tiles to loops and arithmetic, for kernels and for the host
//===----------------------------------------------------------------------===//

def AttnExpandBandsPass : Pass<"attn-expand-bands"> {
  let summary = "compute what rows of a tile see";
  let description = [{
    `attn.band` becomes the arithmetic of its mask, on a vector of rows.

    Guarantees: no `attn.band` remains.

    Example: test/passes/attn-expand-bands-doctest.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def AttnExpandSoftmaxPass : Pass<"attn-expand-softmax"> {
  let summary = "compute exponentials and rescalings";
  let description = [{
    `attn.softmax_weights` and `attn.rescale` become `math.exp2` of a difference
    times the factor. With `fuse-exponents`, for kernels, `exp2((s - r) * c)` of
    a tile becomes `exp2(s * c - r * c)`, one fused multiply-add per score. What
    rounding `r * c` does to all weights of a row alike comes out again with
    their sum, and is too little to show in a weight of 16 bits where the product
    is at most 2048. Rows beyond that keep the difference; a warp that has none,
    as it votes, spends nothing per score on it.

    Guarantees: neither op remains.

    Example: test/passes/attn-expand-softmax-doctest.mlir
  }];
  let options = [
    Option<"fuseExponents", "fuse-exponents", "bool", "false",
           "spend one operation per score, by a vote of the warp">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn_gpu::AttnGPUDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def AttnLowerTileLoopsPass : Pass<"attn-lower-tile-loops"> {
  let summary = "make tile loops scf loops";
  let description = [{
    An `attn.tile_loop` becomes an `scf.for` per segment, without masks in full
    ones. Where its accumulators have the schedule's `shared_loop_columns`, one
    loop serves all segments and masks under a condition: one branch more per
    tile, and half the matrix products for the assembler to look at. A first
    segment of at most one iteration is no loop to share code with.

    An `attn.tile_grid`, which only the host's pipeline still has, becomes
    `scf.forall` over (batch, head, tile) and one over the workers.

    Guarantees: no `attn.tile_loop` and no `attn.tile_grid` remain.

    Example: test/passes/attn-lower-tile-loops-doctest.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// Tiles to kernel
//===----------------------------------------------------------------------===//

def AttnMapToGPUPass : Pass<"attn-map-to-gpu", "::mlir::ModuleOp"> {
  let summary = "make a kernel of each tiled function";
  let description = [{
    A function around one `attn.tile_grid` becomes a `gpu.func` with the same
    arguments in a `gpu.module`: an `scf.for` walks a linear number of tiles
    from the block's number in steps of the grid, so that any grid computes
    everything; the worker is `attn_gpu.worker_id`. The schedule goes from the
    grid to the kernel. A grid without one, or one for the host, stays as it is.

    The linear order keeps the heads whose keys and values fit in the second
    level cache together, and with `descending` starts the longest query tiles
    first.

    Requires: the grid at the top level of a function without results, and no
    effects beside it.

    Example: test/passes/attn-map-to-gpu-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn_gpu::AttnGPUDialect",
    "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"
  ];
}

def AttnGuardHiddenValuesPass
    : Pass<"attn-guard-hidden-values", "::mlir::gpu::GPUFuncOp"> {
  let summary = "keep NaN and infinity of a hidden value out of other rows";
  let description = [{
    A masked weight is 0, and in a matrix product 0 times NaN is NaN. A row is
    bad if its accumulators are not finite while its sum of weights is a number.
    Behind the write of the results, a warp with such rows searches the values
    of the tiles that may be partial, some columns at a time; where one of these
    is not finite, it repairs the rows: it sums them again, key by key, from
    visible values only, and writes them once more. The weights come from the
    ops of the loop that computed them, cloned for a block of keys; which keys a
    row sees, from the loop's masks. Nothing is added where a loop has no mask
    that hides keys which exist, nor to a kernel that has channels already, as a
    finished one.

    Requires: masks in `attn.tile_loop`; row sums as `attn-defer-row-sums`
    leaves them or whole; reads that are not copies yet; weights of elementwise
    ops, broadcasts and reads on a product of two reads; accumulators that are
    written without a mask, behind elementwise ops whose other operands are the
    same in all columns. Fails with an error at the op that is otherwise.

    Example: test/passes/attn-guard-hidden-values-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn_gpu::AttnGPUDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def AttnAsyncCopiesPass
    : Pass<"attn-async-copies", "::mlir::gpu::GPUFuncOp"> {
  let summary = "bring tiles through shared memory";
  let description = [{
    A `vector.transfer_read` of a matmul operand becomes a copy into a channel
    (by the copy engine in style fa3, by all threads in style fa2), a `receive`,
    and the tile's values by `attn_gpu.tile_value`; the slot is released after
    the last use. A tile that does not depend on the worker is copied once for
    the block; where workers read one part of the rows each, all parts are one
    copy, and `attn_gpu.subtile` is a worker's. What is read in an
    `attn.tile_loop` (K and V) gets a ring of the schedule's stages, what is
    read beside it (Q) one of its query stages. Slots are running counts, which
    the loop over tiles carries.

    Requires: one loop over tiles, which carries nothing, and tile loops from
    iteration 0. Fails with an error at a read of another form.

    Example: test/passes/attn-async-copies-doctest.mlir
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::attn_gpu::AttnGPUDialect"];
}

def AttnAsyncMatmulsPass
    : Pass<"attn-async-matmuls", "::mlir::gpu::GPUFuncOp"> {
  let summary = "put contractions on the asynchronous tensor cores";
  let description = [{
    `vector.contract` whose right side is a tile in shared memory becomes
    `attn_gpu.mma_async` and an `attn_gpu.mma_wait` right behind it.

    Example: test/passes/attn-async-matmuls-doctest.mlir
  }];
  let dependentDialects = ["::mlir::attn_gpu::AttnGPUDialect"];
}

def AttnPrefetchCopiesPass
    : Pass<"attn-prefetch-copies", "::mlir::gpu::GPUFuncOp"> {
  let summary = "start copies as early as their slots are free";
  let description = [{
    Without a producer, the threads that compute also copy. The load of a tile
    in an `attn.tile_loop` moves ahead by as many iterations as its channel has
    slots, behind the `receive` that follows the release of the slot: what that
    waits for is what the copy would wait for. The loads of a prologue and of
    the first iterations go in front of the loop and of the branch around it,
    under the branch's condition. Tiles of iterations that do not exist are
    skipped, not loaded.

    Requires: one load, receive and release of each channel in the loop, and
    tiles that follow from the iteration. A loop without these stays as it is,
    which a remark says.

    Example: test/passes/attn-prefetch-copies-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn_gpu::AttnGPUDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def AttnDeferRowSumsPass
    : Pass<"attn-defer-row-sums", "::mlir::gpu::GPUFuncOp"> {
  let summary = "add up a row's lanes once, after the loop";
  let description = [{
    A row sum that a loop only rescales and adds to is linear: each thread may
    carry its own part, and the parts meet behind the loop in one
    `attn_gpu.row_sum`. The reductions inside become `attn_gpu.partial_sum`, the
    role of what the loop carries `partial_sum`.

    Declines with a remark where the sum is used otherwise.

    Example: test/passes/attn-defer-row-sums-doctest.mlir
  }];
  let dependentDialects = ["::mlir::attn_gpu::AttnGPUDialect"];
}

def AttnRescaleLazilyPass
    : Pass<"attn-rescale-lazily", "::mlir::gpu::GPUFuncOp"> {
  let summary = "rescale the sums only when a row maximum grew a lot";
  let description = [{
    Any reference near the row maximum gives the same softmax. With a
    `rescale_threshold` of `t`, a warp keeps its old references as long as no
    row maximum passed one by more than `t` in log2 units (weights then stay
    below `2^t`), and skips the multiplication of its accumulators: the
    `attn.rescale` of a loop that carries its references as the maximum goes
    under a vote. The same vote tells the loop's `attn.softmax_weights` whether
    a reference may be large.

    Declines with a remark where the sums do not go from the maximum before an
    iteration to the one after it.

    Example: test/passes/attn-rescale-lazily-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn_gpu::AttnGPUDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def AttnSpecializeWarpgroupsPass
    : Pass<"attn-specialize-warpgroups", "::mlir::gpu::GPUFuncOp"> {
  let summary = "split a kernel into a producer and consumers";
  let description = [{
    The loop over tiles is put into both regions of an `attn_gpu.specialize`;
    the producer keeps the copies into channels and what they need, the consumer
    everything else. Ends of tile loops are computed outside the roles or by the
    same ops in both; to the producer all segments are one. A kernel of another
    style than fa3 stays as it is.

    Requires: one loop over tiles that copies, and copies that depend on neither
    the worker nor its data. Fails with an error otherwise.

    Example: test/passes/attn-specialize-warpgroups-doctest.mlir
  }];
  let dependentDialects = ["::mlir::attn_gpu::AttnGPUDialect"];
}

def AttnSkipAbsentRowsPass
    : Pass<"attn-skip-absent-rows", "::mlir::gpu::GPUFuncOp"> {
  let summary = "let a worker pass over all tiles if none of its rows exists";
  let description = [{
    The last query tile of a sequence may have fewer rows than a block computes.
    A worker that would write nothing, since all its rows are past the end, has
    an `attn.tile_loop` without iterations. A loop in front receives and
    releases the key tiles, and the tensor cores are left to the others.

    Requires: roles, one tile loop that receives, slots that follow from its
    iteration, and results that are written by `vector.transfer_write` with rows
    that may be out of bounds and are known before the loop. Declines with a
    remark otherwise.

    Example: test/passes/attn-skip-absent-rows-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn_gpu::AttnGPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def AttnSkipHiddenTilesPass
    : Pass<"attn-skip-hidden-tiles", "::mlir::gpu::GPUFuncOp"> {
  let summary = "let a worker pass over tiles that none of its rows sees";
  let description = [{
    The workers of a block share its key tiles, and these are what the block's
    last row sees. The first ones may be hidden from all rows of a worker: a
    loop in front receives and releases them, and the worker's `attn.tile_loop`
    starts behind them, `from` an iteration that differs from worker to worker.
    One iteration of the first segment is left, which masks.

    Requires: roles, a descending loop over keys with an `attn.mask_band` whose
    `attn.band` depends on the row, and slots that follow from the iteration.
    Declines with a remark where only the last is missing.

    Example: test/passes/attn-skip-hidden-tiles-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn_gpu::AttnGPUDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def AttnOverlapSoftmaxPass
    : Pass<"attn-overlap-softmax", "::mlir::gpu::GPUFuncOp"> {
  let summary = "run the softmax of one tile under the matmuls of its neighbours";
  let description = [{
    Software-pipelines an `attn.tile_loop` by one iteration: it starts the QK
    product of its tile, then the PV product of the previous one, and does its
    softmax while that runs. The loop carries the rounded weights in addition,
    and goes through its segments without draining between them. Weights are
    rounded to 16 bits only after the PV product that reads the previous ones
    was waited for, since they share registers.

    The first iteration, which has no product before it, is a prologue in front
    of the loop, and all of a `tail` segment. With accumulators of at least
    `shared_loop_columns` columns it shares the loop's code instead: a branch
    more per tile, and one product and one softmax less for the assembler. It
    never does where its segment is a tail, which then is no loop, nor where
    threads copy the tiles themselves. The last PV product is an epilogue.

    Requires: an accumulator that a PV product adds to, weights that it alone
    reads and that `attn.softmax_weights` makes of the result of a QK product, a
    channel for each product, slots that follow from the iteration. Where a
    schedule has `overlap` and a loop is not of that form, a remark says why.

    Example: test/passes/attn-overlap-softmax-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::attn_gpu::AttnGPUDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def AttnHoistToHostPass : Pass<"attn-hoist-to-host", "::mlir::gpu::GPUFuncOp"> {
  let summary = "let the host compute what depends on sizes alone";
  let description = [{
    Index arithmetic at the top of a kernel on sizes of its arguments becomes
    arguments with an `attn_gpu.formula`, which the manifest hands to whoever
    launches the kernel. Tile counts and the order of tiles then cost neither
    registers nor divisions.

    Example: test/passes/attn-hoist-to-host-doctest.mlir
  }];
  let dependentDialects = ["::mlir::attn_gpu::AttnGPUDialect"];
}

//===----------------------------------------------------------------------===//
// Tiles to the host
//===----------------------------------------------------------------------===//

def AttnLoopOverRowsPass : Pass<"attn-loop-over-rows", "::mlir::func::FuncOp"> {
  let summary = "compute tiles row by row, on vectors that a CPU has";
  let description = [{
    What stands between two loops in an `scf.forall` over workers becomes one
    loop over the rows of the tile: MxN values become vectors of N, one value
    per row becomes a scalar. What loops carry, and what one leaves to the next,
    lies in memory that is allocated once a tile. The right operand of a product
    is copied to memory once a tile, zeros where the tensor ends, K turned
    around.

    A product with weights that `attn.mask_band` has masked goes over the keys
    that it left, row by row: NaN or infinity in V reaches only rows that see
    it.

    Requires: loops that write their results, as `attn-lower-tile-loops` leaves
    them. Guarantees: no tile and no `attn` op remains in them.

    Example: test/passes/attn-loop-over-rows-doctest.mlir
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // ATTN_PASSES_PASSES_TD
