//===- AttnOps.td - The attention op -----------------------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_ATTNOPS_TD
#define ATTN_DIALECT_ATTN_ATTNOPS_TD

include "dialect/attn/AttnTileOps.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_AttentionOp : Attn_Op<"attention", [
    AttrSizedOperandSegments, IsolatedFromAbove, DestinationStyleOpInterface,
    TypesMatchWith<"scale has the type of the softmax", "query", "scale",
                   "::mlir::attn::getSoftmaxType($_self)">,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "exact scaled-dot-product attention";
  let description = [{
    For every batch `b`, query head `h` and query row `i` of one sequence:

        s_j = scale * <q_i, k_j>                 in f32, or f64 for f64
        s_j = softcap * tanh(s_j / softcap)      with a softcap
        s_j = s_j + bias(b, h, i, j)             with a bias
        s_j = score_mod(s_j, b, h, i, j)         with that region
        s_j = -inf                               where a mask hides key j
        O_i = softmax_j(s) V,  LSE_i = ln (sum_j exp(s_j) + exp(sink_h))

    A row with no visible key has `O = 0` and `LSE = -inf` (with a sink: that).
    Keys and values that a row does not see never reach it, whatever they hold.

    The iteration space is `(b, h, m, n, d, e)`: batch, query head, query row,
    key, head dim of Q and K, head dim of V and O. One affine map per tensor
    says where it keeps these: layout is a permutation, grouped queries are
    `h floordiv g`, and a bias that is the same along a dim has extent 1 there
    and 0 in its map. Q, K and V have a 16-bit (or, on the host, any) float
    type. The softmax is computed in f32, that of f64 in f64; `scale` and
    `softcap`, finite and greater than 0, and the optional LSE, in natural-log
    units, have that type. O has a float type.

    Everything beside Q, K, V, scale and outs is an optional group of operands
    with a name:

    * `mask`: what the mask attribute takes at run time, one scalar each
    * `bias`: added to the scores
    * `sinks`: one value per query head in the denominator alone
    * `cu_seqlens`: where each sequence of a ragged batch starts, for Q and K
    * `seqused`: keys of each batch that exist
    * `captures`: tensors that the regions read, their arguments behind the
      indices

    On tensors the op returns O (and LSE) in destination-passing style; on
    memrefs it writes them and returns nothing.

    Constraints:
    * (C1) tensors and memrefs are not mixed
    * (C2) one map per tensor, in the order query, key, value, outs, bias
    * (C3) a map has the 6 dims of the iteration space and one result per
      dimension of its operand
    * (C4) query maps b, h, m, d; key b, h floordiv g, n, d; value b,
      h floordiv g, n, e; O b, h, m, e; LSE b, h, m; bias b, h, m, n, where
      all but n may be 0; each exactly once
    * (C5) key and value agree on g
    * (C6) static extents of one iteration dim agree, and g divides the query
      heads
    * (C7) query, key and value have one float element type; O has one too
    * (C8) there are one or two outs; LSE has the type of the softmax
    * (C9) results are there for tensors only, with the types of the outs
    * (C10) a region takes (f32,) index, index, index, index and the captures,
      and yields f32, or i1 for `mask_mod`, which takes no score
    * (C11) the head dims are static and positive
    * (C12) the operands of the mask are what it takes
    * (C13) softcap has the type of scale; sinks are one dimension of f32, and
      sequence starts and used keys one of i32; starts come for Q and K

    Created by front ends; consumed by `attn-tile`.

    ```mlir
    attn.attention query(%q : memref<?x?x8x128xbf16>)
                   key(%k : memref<?x?x2x128xbf16>)
                   value(%v : memref<?x?x2x128xbf16>)
                   scale(%scale)
                   outs(%o : memref<?x?x8x128xbf16>)
                   mask(#attn.window<bottom_right> with %left, %right : index, index)
                   maps [#q, #k, #v, #o]
    ```
  }];
  let arguments = (ins
    AnyShaped:$query,
    AnyShaped:$key,
    AnyShaped:$value,
    AnyTypeOf<[F32, F64]>:$scale,
    Variadic<AnyShaped>:$outs,
    Optional<AnyTypeOf<[F32, F64]>>:$softcap,
    Variadic<AnyType>:$mask_operands,
    Optional<AnyShaped>:$bias,
    Optional<AnyShaped>:$sinks,
    Variadic<AnyShaped>:$cu_seqlens,
    Optional<AnyShaped>:$seqused,
    Variadic<AnyShaped>:$captures,
    AffineMapArrayAttr:$indexing_maps,
    OptionalAttr<Attn_BandMaskInterface>:$mask,
    OptionalAttr<Attn_ScheduleAttr>:$schedule
  );
  let results = (outs Variadic<AnyTensor>:$results);
  let regions = (region AnyRegion:$score_mod, AnyRegion:$mask_mod);
  let assemblyFormat = [{
    `query` `(` $query `:` type($query) `)` `key` `(` $key `:` type($key) `)`
    `value` `(` $value `:` type($value) `)` `scale` `(` $scale `)`
    `outs` `(` $outs `:` type($outs) `)`
    (`softcap` `(` $softcap^ `:` type($softcap) `)`)?
    (`mask` `(` $mask^
        (`with` $mask_operands^ `:` type($mask_operands))? `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`cu_seqlens` `(` $cu_seqlens^ `:` type($cu_seqlens) `)`)?
    (`seqused` `(` $seqused^ `:` type($seqused) `)`)?
    (`captures` `(` $captures^ `:` type($captures) `)`)?
    (`schedule` `(` $schedule^ `)`)?
    `maps` $indexing_maps
    (`score_mod` $score_mod^)? (`mask_mod` $mask_mod^)?
    attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Dims of the iteration space, in the order of every map's inputs.
    enum Dim : unsigned { Batch, Head, Row, Key, HeadDimQK, HeadDimVO, NumDims };

    /// The tensors that have a map, by what they are.
    enum Tensor : unsigned { Query, KeyTensor, ValueTensor, Output, Lse, Bias };

    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }

    /// The tensors that the op has, in the order of their maps.
    ::llvm::SmallVector<Tensor> getTensors();
    /// Null where the op has no such tensor.
    ::mlir::Value getTensor(Tensor tensor);
    ::mlir::AffineMap getMap(Tensor tensor);
    /// The dimension of the tensor's shape that iteration dim `dim` indexes.
    unsigned getOperandDim(Tensor tensor, Dim dim);
    ::mlir::Value getOutput() { return getOuts().front(); }
    /// Null where no LSE is asked for.
    ::mlir::Value getLse() {
      return getOuts().size() > 1 ? getOuts()[1] : ::mlir::Value();
    }
    /// Query heads per key head.
    int64_t getGroupSize();
    int64_t getHeadDimQK();
    int64_t getHeadDimVO();
  }];
}

#endif // ATTN_DIALECT_ATTN_ATTNOPS_TD
