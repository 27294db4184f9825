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
    DestinationStyleOpInterface,
    TypesMatchWith<"scale has the type of the softmax", "query", "scale",
                   "::mlir::attn::getSoftmaxType($_self)">,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "exact scaled-dot-product attention";
  let description = [{
    For every batch `b`, query head `h` and query row `i` of one sequence:

        s_j = scale * <q_i, k_j>                 in f32, or f64 for f64
        s_j = modification(s_j, b, h, i, j)      if the region is there
        s_j = -inf                               where the mask hides key j
        O_i = softmax_j(s) V,  LSE_i = ln sum_j exp(s_j)

    A row with no visible key has `O = 0` and `LSE = -inf`. Keys and values
    that a row does not see never reach it, whatever they hold.

    The iteration space is `(b, h, m, n, d, e)`: batch, query head, query row,
    key, head dim of Q and K, head dim of V and O. One affine map per operand
    says where each tensor keeps these: layout is a permutation and grouped
    queries are `h floordiv g`. Q, K and V have a 16-bit (or, on the host, any)
    float type. The softmax is computed in f32, that of f64 in f64; `scale`,
    greater than 0, and the optional LSE, in natural-log units, have that type.
    O has a float type.

    On tensors the op returns O (and LSE) in destination-passing style; on
    memrefs it writes them and returns nothing.

    Constraints:
    * (C1) tensors and memrefs are not mixed
    * (C2) one map per shaped operand, in the order query, key, value, outs
    * (C3) a map has the 6 dims of the iteration space and one result per
      dimension of its operand
    * (C4) query maps b, h, m, d; key b, h floordiv g, n, d; value b,
      h floordiv g, n, e; O b, h, m, e; LSE b, h, m; each exactly once
    * (C5) key and value agree on g
    * (C6) static extents of one iteration dim agree, and g divides the query
      heads
    * (C7) query, key and value have one float element type; O has one too
    * (C8) there are one or two outs; LSE has the type of the softmax
    * (C9) results are there for tensors only, with the types of the outs
    * (C10) the region takes (f32, index, index, index, index) and yields f32
    * (C11) the head dims are static and positive

    Created by front ends; consumed by `attn-tile`.

    ```mlir
    attn.attention query(%q : memref<?x?x8x128xbf16>)
                   key(%k : memref<?x?x2x128xbf16>)
                   value(%v : memref<?x?x2x128xbf16>)
                   scale(%scale)
                   outs(%o : memref<?x?x8x128xbf16>)
                   mask(#attn.causal<bottom_right>)
                   maps [#q, #k, #v, #o]
    ```
  }];
  let arguments = (ins
    AnyShaped:$query,
    AnyShaped:$key,
    AnyShaped:$value,
    AnyTypeOf<[F32, F64]>:$scale,
    Variadic<AnyShaped>:$outs,
    AffineMapArrayAttr:$indexing_maps,
    OptionalAttr<Attn_BandMaskInterface>:$mask,
    OptionalAttr<Attn_ScheduleAttr>:$schedule
  );
  let results = (outs Variadic<AnyTensor>:$results);
  let regions = (region AnyRegion:$modification);
  let assemblyFormat = [{
    `query` `(` $query `:` type($query) `)` `key` `(` $key `:` type($key) `)`
    `value` `(` $value `:` type($value) `)` `scale` `(` $scale `)`
    `outs` `(` $outs `:` type($outs) `)`
    (`mask` `(` $mask^ `)`)?
    (`schedule` `(` $schedule^ `)`)?
    `maps` $indexing_maps
    ($modification^)?
    attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Dims of the iteration space, in the order of every map's inputs.
    enum Dim : unsigned { Batch, Head, Row, Key, HeadDimQK, HeadDimVO, NumDims };

    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }

    ::mlir::AffineMap getMap(unsigned operand);
    ::mlir::AffineMap getQueryMap() { return getMap(0); }
    ::mlir::AffineMap getKeyMap() { return getMap(1); }
    ::mlir::AffineMap getValueMap() { return getMap(2); }
    ::mlir::AffineMap getOutputMap() { return getMap(3); }
    ::mlir::Value getOutput() { return getOuts().front(); }
    /// Null where no LSE is asked for.
    ::mlir::Value getLse() {
      return getOuts().size() > 1 ? getOuts()[1] : ::mlir::Value();
    }
    /// Query heads per key head.
    int64_t getGroupSize();
    /// The dimension of `operand`'s shape that iteration dim `dim` indexes.
    unsigned getOperandDim(unsigned operand, Dim dim);
    int64_t getHeadDimQK();
    int64_t getHeadDimVO();
  }];
}

#endif // ATTN_DIALECT_ATTN_ATTNOPS_TD
