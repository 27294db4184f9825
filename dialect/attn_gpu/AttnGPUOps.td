//===- AttnGPUOps.td - Ops of the kernel altitude ----------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTNGPU_ATTNGPUOPS_TD
#define ATTN_DIALECT_ATTNGPU_ATTNGPUOPS_TD

include "dialect/attn_gpu/AttnGPUDialect.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class AttnGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<AttnGPU_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def AttnGPU_SpecializeOp : AttnGPU_Op<"specialize", [
    NoRegionArguments, SingleBlock, SingleBlockImplicitTerminator<"EndOp">]> {
  let summary = "split a block into one producer warpgroup and consumer warpgroups";
  let description = [{
    Warpgroup 0 runs `producer`, each of the next `consumers` warpgroups runs
    `consumer`. The numbers before the regions are registers per thread: the
    producer gives registers up and the consumers take them.

    The producer region is executed by one thread; what it holds must be
    scalar. Roles meet only through channels: no block-wide barrier may appear
    inside, since the other role would never reach it.

    Constraints: (C1) registers are a multiple of 8 from 24 to 256.

    Created by `attn-specialize-warpgroups`.

    ```mlir
    attn_gpu.specialize producer(32) {
      ...
    } consumers(3, 160) {
      ...
    }
    ```
  }];
  let arguments = (ins I64Attr:$producer_registers,
                       ConfinedAttr<I64Attr, [IntPositive]>:$num_consumers,
                       I64Attr:$consumer_registers);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = [{
    `producer` `(` $producer_registers `)` $producer
    `consumers` `(` $num_consumers `,` $consumer_registers `)` $consumer
    attr-dict
  }];
  let hasVerifier = 1;
}

def AttnGPU_EndOp : AttnGPU_Op<"end", [Pure, Terminator,
                                       HasParent<"SpecializeOp">]> {
  let summary = "ends a role";
  let assemblyFormat = "attr-dict";
}

def AttnGPU_WorkerIdOp : AttnGPU_Op<"worker_id", [Pure]> {
  let summary = "the number of this worker in its block";
  let description = [{
    Uniform over the worker. In the consumers of `attn_gpu.specialize` it counts
    consumer warpgroups from 0; in a kernel without roles it counts workers of
    `attn_gpu.warps_per_worker` warps.
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def AttnGPU_WarpAnyOp : AttnGPU_Op<"warp_any", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "whether a condition holds for any row of the executing warp";
  let description = [{
    The result is uniform over a warp but may differ between the warps of a
    worker, so it may only guard work that each warp does on its own rows (no
    `wgmma`). All threads of the warp must be converged.
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I1]>:$condition);
  let results = (outs I1:$result);
  let assemblyFormat = "$condition attr-dict `:` type($condition)";
}

def AttnGPU_WarpBarrierOp : AttnGPU_Op<"warp_barrier", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "order the memory accesses of the executing warp";
  let description = [{
    What any thread of the warp reads or writes before it is ordered before what
    any of them reads or writes behind it. It orders nothing between warps. All
    threads of the warp must reach it.

    Created by `attn-guard-hidden-values`.
  }];
  let assemblyFormat = "attr-dict";
}

def AttnGPU_PartialSumOp : AttnGPU_Op<"partial_sum", [Pure]> {
  let summary = "add up what each thread holds of a row";
  let description = [{
    A loop that accumulates a row sum need not exchange it in every iteration:
    it may add up each thread's part, and the parts meet behind it in
    `attn_gpu.row_sum`.

    The result breaks the rule that a row's threads agree. It may only be scaled
    by values on which they do agree, be added to other partial sums, be carried
    by `attn.tile_loop` in the role `partial_sum`, end in `attn_gpu.row_sum`, or
    be asked for something that one thread of a row is enough for, by
    `attn_gpu.warp_any`.

    Constraints: (C1) the result has one entry per row of the source.

    Created by `attn-defer-row-sums` and `attn-guard-hidden-values`.

    ```mlir
    %sum = attn_gpu.partial_sum %p : vector<64x80xf32> -> vector<64xf32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[2], [F32]>:$source);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def AttnGPU_RowSumOp : AttnGPU_Op<"row_sum", [
    SameOperandsAndResultType, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "add up the parts of row sums that a row's threads hold";
  let description = [{
    Makes what `attn_gpu.partial_sum` began one value per row again, on which
    its threads agree. All threads of the warp must be converged.

    Created by `attn-defer-row-sums` and `attn-guard-hidden-values`.

    ```mlir
    %sum = attn_gpu.row_sum %partial : vector<64xf32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$partial);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = "$partial attr-dict `:` type($partial)";
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

def AttnGPU_ChannelOp : AttnGPU_Op<"channel", [
    MemoryEffects<[MemAlloc]>]> {
  let summary = "allocate a channel in shared memory";
  let description = [{
    Allocates `stages` slots and, per slot, what tells full from empty. A slot
    counts as empty once `consumers` workers have released it. At the start all
    slots are empty.

    Constraints: (C1) the op is at the top level of a function.

    ```mlir
    %k = attn_gpu.channel consumers(3) : !attn_gpu.channel<80x128xbf16, ...>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$consumers);
  let results = (outs AttnGPU_ChannelType:$channel);
  let assemblyFormat = [{
    `consumers` `(` $consumers `)` attr-dict `:` type($channel)
  }];
  let hasVerifier = 1;
}

def AttnGPU_TMALoadOp : AttnGPU_Op<"tma_load", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "fill a slot of a channel from a tensor, by the copy engine";
  let description = [{
    Waits until slot number `slot` is empty, then starts the copy of the box at
    `coordinates` (one per dimension of the tensor, in its order; the last is
    the first column) into it, one request per panel. Elements outside the
    tensor arrive as zeros. The slot turns full when all bytes have arrived.

    Executed by one thread of the producer; in a kernel without roles, by one
    thread of the block.

    Constraints:
    * (C1) there is one coordinate per extent of the box
    * (C2) map and channel agree on element type and swizzle
    * (C3) the box has the rows of the channel's tiles

    ```mlir
    attn_gpu.tma_load %map[%b, %n, %h, %c0] to %channel[%slot]
        : !attn_gpu.tensor_map<...> to !attn_gpu.channel<...>
    ```
  }];
  let arguments = (ins AttnGPU_TensorMapType:$map,
                       Variadic<Index>:$coordinates,
                       AttnGPU_ChannelType:$channel, Index:$slot);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $channel `[` $slot `]` attr-dict
    `:` type($map) `to` type($channel)
  }];
  let hasVerifier = 1;
}

def AttnGPU_CooperativeLoadOp : AttnGPU_Op<"cooperative_load", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "fill a slot of a channel from a tensor, by the threads of the block";
  let description = [{
    Waits until slot number `slot` is empty, then starts the copy of a tile into
    it. `coordinates` name the tile's first element; its rows run along
    dimension `rows` of the tensor and its columns along the last. Elements
    outside the tensor arrive as zeros. The slot turns full when the parts of
    all threads have arrived.

    Executed by all threads of the block, each of which copies its part. A
    thread that waits here for others must have released what they wait for.
    Base and strides of the tensor may be any: what `cp.async` cannot copy in
    units of 16 bytes goes through registers.

    Constraints:
    * (C1) there is one coordinate per dimension of the tensor
    * (C2) tensor and channel agree on element type
    * (C3) `rows` is a dimension other than the last, which has no gaps

    ```mlir
    attn_gpu.cooperative_load %K[%b, %n, %h, %c0] rows(1) to %channel[%slot]
        : memref<...> to !attn_gpu.channel<...>
    ```
  }];
  let arguments = (ins AnyMemRef:$tensor, Variadic<Index>:$coordinates,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$rows,
                       AttnGPU_ChannelType:$channel, Index:$slot);
  let assemblyFormat = [{
    $tensor `[` $coordinates `]` `rows` `(` $rows `)` `to` $channel
    `[` $slot `]` attr-dict `:` type($tensor) `to` type($channel)
  }];
  let hasVerifier = 1;
}

def AttnGPU_ReceiveOp : AttnGPU_Op<"receive", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "wait until a slot is full and see its tile";
  let description = [{
    All threads of the worker wait. The tile may be read until the worker
    releases the slot, and by matmuls only if they are waited for before.

    ```mlir
    %tile = attn_gpu.receive %channel[%slot] : !attn_gpu.channel<...>
    ```
  }];
  let arguments = (ins AttnGPU_ChannelType:$channel, Index:$slot);
  let results = (outs AttnGPU_TileType:$tile);
  let assemblyFormat = "$channel `[` $slot `]` attr-dict `:` type($channel)";
}

def AttnGPU_ReleaseOp : AttnGPU_Op<"release", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "say that this worker no longer reads a slot";
  let description = [{
    Each worker releases each slot it received exactly once, after the last
    matmul that reads it was waited for.

    ```mlir
    attn_gpu.release %channel[%slot] : !attn_gpu.channel<...>
    ```
  }];
  let arguments = (ins AttnGPU_ChannelType:$channel, Index:$slot);
  let assemblyFormat = "$channel `[` $slot `]` attr-dict `:` type($channel)";
}

def AttnGPU_SubtileOp : AttnGPU_Op<"subtile", [Pure]> {
  let summary = "some rows of a tile";
  let description = [{
    `row` is a multiple of the rows of the result, which are a multiple of 8,
    so that the swizzle starts anew.

    Constraints:
    * (C1) source and result differ in rows only
    * (C2) the rows of the result are a multiple of 8 and divide the source's

    ```mlir
    %mine = attn_gpu.subtile %q[%row] : !attn_gpu.tile<192x128xbf16, #l>
        to !attn_gpu.tile<64x128xbf16, #l>
    ```
  }];
  let arguments = (ins AttnGPU_TileType:$source, Index:$row);
  let results = (outs AttnGPU_TileType:$result);
  let assemblyFormat = [{
    $source `[` $row `]` attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
}

def AttnGPU_TileValueOp : AttnGPU_Op<"tile_value", [MemoryEffects<[MemRead]>]> {
  let summary = "the values of a tile, for a matmul to read in place";
  let description = [{
    Lets a contraction on vectors take a tile in shared memory as an operand
    until `attn-async-matmuls` makes it one; no registers ever hold the result.

    Constraints: (C1) the result has the shape and elements of the tile.

    ```mlir
    %k = attn_gpu.tile_value %tile : !attn_gpu.tile<80x128xbf16, #l> -> vector<80x128xbf16>
    ```
  }];
  let arguments = (ins AttnGPU_TileType:$tile);
  let results = (outs VectorOfRankAndType<[2], [AnyFloat]>:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

def AttnGPU_MMAAsyncOp : AttnGPU_Op<"mma_async", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "start a matrix product on the tensor cores";
  let description = [{
    Starts `result = a * b + accumulator` over the whole inner dimension, as one
    group of the worker's asynchronous matmuls, and returns at once (`wgmma`, for
    workers of a warpgroup; for a worker of one warp, `mma.sync` leaves nothing
    to wait for). Without an accumulator the product overwrites. `a` is a tile in shared memory or a
    fragment in registers; `b` is a tile, `KxN`, or `NxK` with `transpose_b`.
    The accumulator is f32.

    Columns of `b` past the tile's logical width are never read.

    The registers of `a` must not be written until the product was waited for.

    Constraints:
    * (C1) `a` and `b` have the same elements, f16 or bf16
    * (C2) the inner extents of `a` and `b` match
    * (C3) the result has the outer extents of `a` and `b`
    * (C4) the accumulator has the shape of the result

    ```mlir
    %s = attn_gpu.mma_async %q, %k {transpose_b}
        : !attn_gpu.tile<64x128xbf16, #l>, !attn_gpu.tile<80x128xbf16, #m>
        -> !attn_gpu.inflight<64x80xf32>
    %o = attn_gpu.mma_async %p, %v accumulator(%acc)
        : vector<64x80xbf16>, !attn_gpu.tile<80x128xbf16, #m>
        -> !attn_gpu.inflight<64x128xf32>
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[AttnGPU_TileType, VectorOfRankAndType<[2], [F16, BF16]>]>:$a,
    AttnGPU_TileType:$b,
    Optional<VectorOfRankAndType<[2], [F32]>>:$accumulator,
    UnitAttr:$transpose_b
  );
  let results = (outs AttnGPU_InflightType:$result);
  let assemblyFormat = [{
    $a `,` $b (`accumulator` `(` $accumulator^ `:` type($accumulator) `)`)?
    (`transpose_b` $transpose_b^)? attr-dict `:` type($a) `,` type($b) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def AttnGPU_MMASkipOp : AttnGPU_Op<"mma_skip", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "stand in for a matrix product that is not made";
  let description = [{
    The other side of a branch that starts a product: gives the accumulator on
    as it is, and waits for all of the worker's matmuls. A wait behind the branch
    may so count the product among those that are pending, whether it was
    started or not. `attn-overlap-softmax` makes it.

    Constraints:
    * (C1) the result has the shape of the accumulator

    ```mlir
    %o = scf.if %needed -> !attn_gpu.inflight<64x128xf32> {
      %product = attn_gpu.mma_async %p, %v accumulator(%acc : vector<64x128xf32>)
          : vector<64x80xbf16>, !attn_gpu.tile<80x128xbf16, #m>
          -> !attn_gpu.inflight<64x128xf32>
      scf.yield %product : !attn_gpu.inflight<64x128xf32>
    } else {
      %same = attn_gpu.mma_skip %acc
          : vector<64x128xf32> -> !attn_gpu.inflight<64x128xf32>
      scf.yield %same : !attn_gpu.inflight<64x128xf32>
    }
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[2], [F32]>:$accumulator);
  let results = (outs AttnGPU_InflightType:$result);
  let assemblyFormat =
      "$accumulator attr-dict `:` type($accumulator) `->` type($result)";
  let hasVerifier = 1;
}

def AttnGPU_MMAWaitOp : AttnGPU_Op<"mma_wait", [
    MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "wait for a matmul and get its accumulator back";
  let description = [{
    Waits until at most `pending` later groups of the worker's matmuls are in
    flight. `value` must come from a group that is complete by then.

    ```mlir
    %v = attn_gpu.mma_wait %s pending(1) : !attn_gpu.inflight<64x80xf32>
    ```
  }];
  let arguments = (ins AttnGPU_InflightType:$value,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let results = (outs VectorOfRankAndType<[2], [F32]>:$result);
  let assemblyFormat = [{
    $value `pending` `(` $pending `)` attr-dict `:` type($value)
  }];
}

#endif // ATTN_DIALECT_ATTNGPU_ATTNGPUOPS_TD
