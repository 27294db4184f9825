//===- AttnTileOps.td - Attention on tiles -----------------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What upstream's ops on vectors cannot say of attention on tiles: which tiles
// there are, what a loop over them carries, which keys a row sees, and what the
// exponentials are relative to.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_ATTNTILEOPS_TD
#define ATTN_DIALECT_ATTN_ATTNTILEOPS_TD

include "dialect/attn/AttnAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

def Attn_YieldOp : Attn_Op<"yield", [Pure, ReturnLike, Terminator,
    ParentOneOf<["AttentionOp", "TileGridOp", "TileLoopOp"]>]> {
  let summary = "ends a region of an attn op";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ValueRange()); }]>];
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

def Attn_TileGridOp : Attn_Op<"tile_grid", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "every tile of an output once, in any order";
  let description = [{
    Runs the region once for each (batch, head, tile) of the extents and each of
    `workers` workers, which share the rows of a tile evenly: worker `w` has the
    `w`-th part of them. Nothing is said of the order, and all may run at once.

    An op of its own rather than `scf.forall`, because a dimension of extent 1
    and a grid of one tile stay what they are under canonicalization, and so
    that the schedule belongs to the op that it is about.

    Constraints:
    * (C1) there are three extents: batches, heads, tiles
    * (C2) the region has four index arguments: batch, head, tile and worker
    * (C3) a schedule has as many workers

    Created by `attn-tile`; lowered by `attn-map-to-gpu` or, for the host, by
    `attn-lower-tile-loops`.

    ```mlir
    attn.tile_grid (%b, %h, %t, %w) in (%batches, %heads, %tiles) workers(3)
        schedule(#attn.schedule<...>) {
      ...
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents,
                       ConfinedAttr<I64Attr, [IntPositive]>:$workers,
                       OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$extents,
                                 "int64_t":$workers,
                                 "::mlir::attn::ScheduleAttr":$schedule)>];
  let extraClassDeclaration = [{
    ::mlir::Value getBatch() { return getBody().getArgument(0); }
    ::mlir::Value getHead() { return getBody().getArgument(1); }
    ::mlir::Value getTile() { return getBody().getArgument(2); }
    ::mlir::Value getWorker() { return getBody().getArgument(3); }
  }];
}

def Attn_LoopAxis : I32EnumAttr<"LoopAxis", "what the tiles of a loop are of", [
    I32EnumAttrCase<"Keys", 0, "keys">,
    I32EnumAttrCase<"Rows", 1, "rows">]> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}
def Attn_LoopAxisAttr : EnumAttr<Attn_Dialect, Attn_LoopAxis, "axis">;

def Attn_SegmentKind : I32EnumAttr<"SegmentKind", "what rows see of the tiles of a segment", [
    I32EnumAttrCase<"Partial", 0, "partial">,
    I32EnumAttrCase<"Full", 1, "full">,
    I32EnumAttrCase<"Tail", 2, "tail">]> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}
def Attn_SegmentKindAttr : EnumAttr<Attn_Dialect, Attn_SegmentKind, "segment">;

def Attn_CarriedRole : I32EnumAttr<"CarriedRole", "what a loop carries a value as", [
    I32EnumAttrCase<"Maximum", 0, "maximum">,
    I32EnumAttrCase<"Sum", 1, "sum">,
    I32EnumAttrCase<"PartialSum", 2, "partial_sum">,
    I32EnumAttrCase<"Accumulator", 3, "accumulator">,
    I32EnumAttrCase<"Weights", 4, "weights">]> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}
def Attn_CarriedRoleAttr : EnumAttr<Attn_Dialect, Attn_CarriedRole, "carried">;

def Attn_TileLoopOp : Attn_Op<"tile_loop", [
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, [
      "getInitsMutable", "getRegionIterArgs", "getYieldedValuesMutable",
      "getLoopResults", "getLoopInductionVars"]>,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, [
      "getEntrySuccessorOperands"]>]> {
  let summary = "a loop over tiles of keys or of query rows";
  let description = [{
    Runs the region for the iterations `from`, `from + 1`, ... up to the last
    end. Iteration `i` takes tile number `first + i`, or `first - i` where the
    loop is `descending`; that tile starts at key (or row) `step` times its
    number, which is the second region argument. The first is `i`.

    The iterations form segments, which follow each other: each goes on from the
    end of the one before to its own. Their kinds say what rows see:

    * `partial`: a row may not see all keys of the tile; masks apply
    * `tail`: the same, and the segment has at most one iteration
    * `full`: all rows see all of the tile, so that an op with
      `TileMaskOpInterface` hides nothing, and no compare is made

    Ends do not decrease, and the first segment has an iteration if any has:
    whoever sets them sees to it. So the first iteration of a loop is always one
    that masks, which lets a pipeline have one kind of prologue. Behind that, the
    first segment may have none.

    Carried values have roles: the row `maximum` that exponentials are relative
    to, the row `sum` of weights (or `partial_sum`, see `attn_gpu.partial_sum`),
    the `accumulator` of the product with V, and rounded `weights` on their way
    to it. At most one value has each role.

    Constraints:
    * (C1) there is an end per kind, and at least one
    * (C2) `step` is positive
    * (C3) constant ends do not decrease, and a constant tail has one iteration
    * (C4) region arguments are two of type index and the carried values, with
      the types of inits, yielded values and results
    * (C5) there is a role per carried value, none twice

    Created by `attn-tile`; its segments are set by `attn-split-masked-tiles`;
    lowered to `scf.for` by `attn-lower-tile-loops`.

    ```mlir
    %r:3 = attn.tile_loop (%i, %key) over keys step 80 first(%last) descending
        from(%c0) segments(partial %a, full %b)
        carries(maximum %m = %m0 : vector<64xf32>, sum %l = %l0 : vector<64xf32>,
                accumulator %acc = %acc0 : vector<64x128xf32>) {
      ...
      attn.yield %m1, %l1, %acc1
          : vector<64xf32>, vector<64xf32>, vector<64x128xf32>
    }
    ```
  }];
  // One variadic group for ends and inits: patterns that erase carried values
  // know nothing of segment sizes.
  let arguments = (ins Index:$first, Index:$from,
                       Variadic<AnyType>:$ends_and_inits,
                       Attn_LoopAxisAttr:$axis, I64Attr:$step,
                       UnitAttr:$descending,
                       TypedArrayAttrBase<Attn_SegmentKindAttr, "kinds of segments">:$kinds,
                       TypedArrayAttrBase<Attn_CarriedRoleAttr, "roles of carried values">:$roles);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::attn::LoopAxis":$axis, "int64_t":$step,
                   "::mlir::Value":$first, "bool":$descending,
                   "::mlir::Value":$from, "::mlir::ValueRange":$ends,
                   "::llvm::ArrayRef<::mlir::attn::SegmentKind>":$kinds,
                   "::mlir::ValueRange":$inits,
                   "::llvm::ArrayRef<::mlir::attn::CarriedRole>":$roles)>];
  let extraClassDeclaration = [{
    ::mlir::Block *getBody() { return &getRegion().front(); }
    unsigned getNumSegments() { return getKinds().size(); }
    ::mlir::OperandRange getEnds() {
      return getEndsAndInits().take_front(getNumSegments());
    }
    ::mlir::OperandRange getInits() {
      return getEndsAndInits().drop_front(getNumSegments());
    }
    /// The end of the last segment.
    ::mlir::Value getEnd() { return getEnds().back(); }
    void setEnd(unsigned segment, ::mlir::Value end);
    ::mlir::attn::SegmentKind getKind(unsigned segment);
    ::llvm::SmallVector<::mlir::attn::SegmentKind> getSegmentKinds();
    ::llvm::SmallVector<::mlir::attn::CarriedRole> getCarriedRoles();
    /// Which carried value has `role`, if one has.
    std::optional<unsigned> findCarried(::mlir::attn::CarriedRole role);
    /// The number of the iteration, and where its tile starts.
    ::mlir::BlockArgument getIteration() { return getBody()->getArgument(0); }
    ::mlir::BlockArgument getPosition() { return getBody()->getArgument(1); }
    ::mlir::attn::YieldOp getYield();
  }];
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

def Attn_BandOp : Attn_Op<"band", [Pure, AllTypesMatch<["lower", "upper"]>]> {
  let summary = "which interval of keys each row of a tile sees";
  let description = [{
    For row `first + i` of one batch and head, of sequences of these lengths:
    `[lower[i], upper[i])`, within `[0, seqlen_k)` unless it is empty. Without a
    mask all rows see all keys.

    The op holds the mask, so that whoever bounds a loop asks the mask itself
    for the ends of the rows in question, and both ends are known not to
    decrease.

    Constraints: (C1) the operands of the mask are what it takes.

    Created by `attn-tile`; lowered by `attn-expand-bands`.

    ```mlir
    %lower, %upper = attn.band rows(%first) of(%b, %h) lengths(%sq, %sk)
        mask(#attn.causal<bottom_right>) : vector<64xindex>
    ```
  }];
  let arguments = (ins Index:$first, Index:$batch, Index:$head, Index:$seqlen_q,
                       Index:$seqlen_k, Variadic<AnyType>:$mask_operands,
                       OptionalAttr<Attn_BandMaskInterface>:$mask);
  let results = (outs VectorOfRankAndType<[1], [Index]>:$lower,
                      VectorOfRankAndType<[1], [Index]>:$upper);
  let assemblyFormat = [{
    `rows` `(` $first `)` `of` `(` $batch `,` $head `)`
    `lengths` `(` $seqlen_q `,` $seqlen_k `)`
    (`mask` `(` $mask^ (`with` $mask_operands^ `:` type($mask_operands))? `)`)?
    attr-dict `:` type($lower)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether rows may see different keys.
    bool dependsOnRow() { return getMaskAttr() && getMaskAttr().dependsOnRow(); }
    /// The ends for `row`, an index or a vector of them; `lower` is null where
    /// it is key 0 for every row.
    ::mlir::Value buildLower(::mlir::OpBuilder &builder, ::mlir::Value row);
    ::mlir::Value buildUpper(::mlir::OpBuilder &builder, ::mlir::Value row);
  }];
}

def Attn_MaskBandOp : Attn_Op<"mask_band", [Pure,
    AllTypesMatch<["scores", "result"]>, AllTypesMatch<["lower", "upper"]>,
    DeclareOpInterfaceMethods<Attn_TileMaskOpInterface>]> {
  let summary = "hide the keys outside an interval of each row";
  let description = [{
    `result[i][j] = lower[i] <= first + j < upper[i] ? scores[i][j] : -inf`,
    where `first` is the key of the tile's first column. An interval may lie
    outside the tile or be empty.

    Upstream can say this with a compare of two broadcast vectors, but then
    every element pays for forming its own key; as one op, a thread compares its
    bound with a constant.

    Constraints: (C1) `lower` and `upper` have one entry per row of `scores`.

    Created by `attn-tile`; lowered by `convert-attn-to-nvvm`, or by
    `attn-loop-over-rows` to vector and arith ops.

    ```mlir
    %t = attn.mask_band %s at(%key) [%lower, %upper]
        : vector<64x80xf32>, vector<64xindex>
    ```
  }];
  let arguments = (ins
    VectorOfRankAndType<[2], [AnyFloat]>:$scores,
    Index:$first,
    VectorOfRankAndType<[1], [Index]>:$lower,
    VectorOfRankAndType<[1], [Index]>:$upper
  );
  let results = (outs VectorOfRankAndType<[2], [AnyFloat]>:$result);
  let assemblyFormat = [{
    $scores `at` `(` $first `)` `[` $lower `,` $upper `]` attr-dict `:`
    type($scores) `,` type($lower)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

def Attn_SoftmaxWeightsOp : Attn_Op<"softmax_weights", [Pure,
    AllTypesMatch<["scores", "result"]>,
    AllElementTypesMatch<["scores", "reference"]>,
    TypesMatchWith<"factor has the element type of scores", "scores", "factor",
                   "::mlir::getElementTypeOrSelf($_self)">]> {
  let summary = "the exponentials of scores, relative to a reference per row";
  let description = [{
    `result[i][j] = exp2((scores[i][j] - reference[i]) * factor)`. A score of
    -inf gives 0, also where the reference is -inf, which is that of a row that
    has seen nothing.

    `factor` is log2(e), times the scale where nothing non-linear stands between
    the product and the softmax. The op says what the weights are relative to;
    how the exponent is formed is decided once, where it is expanded.

    `large`, if given, must hold for the warp if a reference in it is so large
    that the rounding of its product with the factor would show; without it, the
    references are tested where the op is expanded.

    Constraints: (C1) `reference` has one entry per row of `scores`.

    Created by `attn-tile`; `large` is added by `attn-rescale-lazily`; lowered by
    `attn-expand-softmax`.

    ```mlir
    %p = attn.softmax_weights %s relative(%m) factor(%c)
        : vector<64x80xf32>, vector<64xf32>
    ```
  }];
  let arguments = (ins
    VectorOfRankAndType<[1, 2], [F32, F64]>:$scores,
    VectorOfRankAndType<[1], [F32, F64]>:$reference,
    AnyTypeOf<[F32, F64]>:$factor,
    Optional<I1>:$large
  );
  let results = (outs VectorOfRankAndType<[1, 2], [F32, F64]>:$result);
  let assemblyFormat = [{
    $scores `relative` `(` $reference `)` `factor` `(` $factor `)`
    (`large` `(` $large^ `)`)? attr-dict `:` type($scores) `,` type($reference)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$scores,
                                 "::mlir::Value":$reference,
                                 "::mlir::Value":$factor), [{
    build($_builder, $_state, scores.getType(), scores, reference, factor,
          /*large=*/::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

def Attn_RescaleOp : Attn_Op<"rescale", [Pure, AllTypesMatch<["from", "to"]>,
    TypesMatchWith<"factor has the element type of the references", "from",
                   "factor", "::mlir::getElementTypeOrSelf($_self)">,
    TypesMatchWith<"results have the types of the sums", "sums", "results",
                   "$_self">]> {
  let summary = "move sums of weights from one reference to another";
  let description = [{
    Multiplies row `i` of each of `sums` by `exp2((from[i] - to[i]) * factor)`:
    what was summed up with weights relative to `from` becomes what it would be
    relative to `to`. A row whose `from` is -inf has summed up nothing and stays
    0.

    Constraints: (C1) each of `sums` has one row per entry of the references.

    Created by `attn-fuse-online-softmax`; put under a condition by
    `attn-rescale-lazily`; lowered by `attn-expand-softmax`.

    ```mlir
    %l1, %o1 = attn.rescale %l, %o from(%m) to(%n) factor(%c)
        : vector<64xf32>, vector<64x128xf32> by vector<64xf32>
    ```
  }];
  let arguments = (ins
    Variadic<VectorOfRankAndType<[1, 2], [F32, F64]>>:$sums,
    VectorOfRankAndType<[1], [F32, F64]>:$from,
    VectorOfRankAndType<[1], [F32, F64]>:$to,
    AnyTypeOf<[F32, F64]>:$factor
  );
  let results = (outs Variadic<VectorOfRankAndType<[1, 2], [F32, F64]>>:$results);
  let assemblyFormat = [{
    $sums `from` `(` $from `)` `to` `(` $to `)` `factor` `(` $factor `)`
    attr-dict `:` type($sums) `by` type($from)
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_ATTNTILEOPS_TD
