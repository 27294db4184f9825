// RUN: attn-opt %s -split-input-file -verify-diagnostics

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c1_mixed(%q: !t, %k: !t, %v: tensor<?x?x?x64xbf16>, %s: f32) {
  // expected-error @below {{expected all operands to be tensors or all to be memrefs, but got 'tensor<?x?x?x64xbf16>'}}
  attn.attention query(%q : !t) key(%k : !t) value(%v : tensor<?x?x?x64xbf16>)
      scale(%s) outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = vector<4x4x4x64xbf16>
func.func @attention_c1_vectors(%q: !t, %s: f32) {
  // expected-error @below {{expected all operands to be tensors or all to be memrefs, but got 'vector<4x4x4x64xbf16>'}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c2_missing_map(%q: !t, %s: f32) {
  // expected-error @below {{expected 4 maps, but got 3}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v]
  return
}

// -----

#q = affine_map<(b, h, m, n, d) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c3_dims(%q: !t, %s: f32) {
  // expected-error @below {{expected the map of query to have 6 dims and no symbols, but got affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e)[s] -> (b, n, h, d + s)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c3_symbols(%q: !t, %s: f32) {
  // expected-error @below {{expected the map of key to have 6 dims and no symbols}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c3_results(%q: !t, %s: f32) {
  // expected-error @below {{expected the map of value to have 4 results, but got 3}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c3_unranked(%q: !t, %k: memref<*xbf16>, %s: f32) {
  // expected-error @below {{expected the map of key to have 0 results, but got 4}}
  attn.attention query(%q : !t) key(%k : memref<*xbf16>) value(%q : !t)
      scale(%s) outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m + 1, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c4_expression(%q: !t, %s: f32) {
  // expected-error @below {{expected a dim or 'head floordiv constant' in the map of query, but got affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2 + 1, d1, d4)>}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b floordiv 2, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c4_grouped_batch(%q: !t, %s: f32) {
  // expected-error @below {{expected a dim or 'head floordiv constant' in the map of key}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, n, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c4_once(%q: !t, %s: f32) {
  // expected-error @below {{expected the map of value to use each of its dims once, but got affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d3, d5)>}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#lse = affine_map<(b, h, m, n, d, e) -> (b, h, n)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c4_lse(%q: !t, %lse: memref<?x?x?xf32>, %s: f32) {
  // expected-error @below {{expected the map of lse to use each of its dims once}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q, %lse : !t, memref<?x?x?xf32>) maps [#q, #k, #v, #o, #lse]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h floordiv 2, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c4_grouped_query(%q: !t, %s: f32) {
  // expected-error @below {{expected no grouped heads in the map of query}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 4, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 2, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c5(%q: !t, %s: f32) {
  // expected-error @below {{expected key and value to group heads alike, but got 4 and 2}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c6_head_dim(%q: !t, %k: memref<?x?x?x128xbf16>, %s: f32) {
  // expected-error @below {{expected extent 64 of dim 4 in key, but got 128}}
  attn.attention query(%q : !t) key(%k : memref<?x?x?x128xbf16>) value(%q : !t)
      scale(%s) outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 4, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 4, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x8x64xbf16>
!kv = memref<?x?x3x64xbf16>
func.func @attention_c6_heads(%q: !t, %k: !kv, %s: f32) {
  // expected-error @below {{expected extent 8 of dim 1 in key, but got 12}}
  attn.attention query(%q : !t) key(%k : !kv) value(%k : !kv) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 4, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 4, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x6x64xbf16>
!kv = memref<?x?x?x64xbf16>
func.func @attention_c6_group(%q: !t, %k: !kv, %s: f32) {
  // expected-error @below {{expected groups of 4 to divide the query heads, but got 6}}
  attn.attention query(%q : !t) key(%k : !kv) value(%k : !kv) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 9223372036854775807, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 9223372036854775807, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
!kv = memref<?x?x4x64xbf16>
func.func @attention_c6_overflow(%q: !t, %k: !kv, %s: f32) {
  // expected-error @below {{expected fewer query heads than 2^63, but got groups of 9223372036854775807 in key}}
  attn.attention query(%q : !t) key(%k : !kv) value(%k : !kv) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c7_alike(%q: !t, %v: memref<?x?x?x64xf16>, %s: f32) {
  // expected-error @below {{expected element type 'bf16' of query, key and value, but got 'f16'}}
  attn.attention query(%q : !t) key(%q : !t) value(%v : memref<?x?x?x64xf16>)
      scale(%s) outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xi8>
func.func @attention_c7_float(%q: !t, %s: f32) {
  // expected-error @below {{expected a float element type, but got 'i8'}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c7_output(%q: !t, %o: memref<?x?x?x64xindex>, %s: f32) {
  // expected-error @below {{expected a float element type, but got 'index'}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%o : memref<?x?x?x64xindex>) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c8_three(%q: !t, %s: f32) {
  // expected-error @below {{expected 1 or 2 outs, but got 3}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q, %q, %q : !t, !t, !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c8_none(%q: !t, %s: f32) {
  // expected-error @below {{expected 1 or 2 outs, but got 0}}
  "attn.attention"(%q, %q, %q, %s) <{indexing_maps = [#q, #k, #v],
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>}> ({}, {})
      : (!t, !t, !t, f32) -> ()
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#lse = affine_map<(b, h, m, n, d, e) -> (b, h, m)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c8_lse(%q: !t, %lse: memref<?x?x?xf16>, %s: f32) {
  // expected-error @below {{expected an 'f32' lse, but got 'f16'}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q, %lse : !t, memref<?x?x?xf16>) maps [#q, #k, #v, #o, #lse]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = tensor<?x?x?x64xbf16>
func.func @attention_c9_tensors(%q: !t, %s: f32) {
  // expected-error @below {{expected 1 results with the types of the outs}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c9_memrefs(%q: !t, %s: f32) {
  // expected-error @below {{expected 0 results with the types of the outs}}
  %r = attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o] -> tensor<?x?x?x64xbf16>
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c10_arguments(%q: !t, %s: f32) {
  // expected-error @below {{expected a score_mod of one block with arguments ('f32', 'index', 'index', 'index', 'index')}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o] score_mod {
  ^bb0(%score: f32):
    attn.yield %score : f32
  }
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c10_yield(%q: !t, %s: f32) {
  // expected-error @below {{expected the score_mod to yield an 'f32'}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o] score_mod {
  ^bb0(%score: f32, %b: index, %h: index, %i: index, %j: index):
    %visible = arith.cmpi sle, %j, %i : index
    attn.yield %visible : i1
  }
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x?xbf16>
func.func @attention_c11_dynamic(%q: !t, %s: f32) {
  // expected-error @below {{expected static and positive head dims}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x0xbf16>
func.func @attention_c11_zero(%q: !t, %s: f32) {
  // expected-error @below {{expected static and positive head dims}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#bias = affine_map<(b, h, m, n, d, e) -> (b, h, m, 0)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c4_bias_without_keys(%t: !t, %s: f32, %b: memref<?x?x?x1xf32>) {
  // expected-error @below {{expected the map of bias to use each of its dims once, but got affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, 0)>}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) bias(%b : memref<?x?x?x1xf32>) maps [#q, #k, #v, #o, #bias]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#bias = affine_map<(b, h, m, n, d, e) -> (b, d, m, n)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c4_bias_head_dim(%t: !t, %s: f32, %b: memref<?x?x?x?xf32>) {
  // expected-error @below {{expected the map of bias to use each of its dims once, but got affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d2, d3)>}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) bias(%b : memref<?x?x?x?xf32>) maps [#q, #k, #v, #o, #bias]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c10_captures(%t: !t, %s: f32, %x: memref<?xf32>) {
  // expected-error @below {{expected a score_mod of one block with arguments ('f32', 'index', 'index', 'index', 'index', 'memref<?xf32>')}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) captures(%x : memref<?xf32>) maps [#q, #k, #v, #o] score_mod {
  ^bb0(%score: f32, %b: index, %h: index, %i: index, %j: index):
    attn.yield %score : f32
  }
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c10_mask_mod(%t: !t, %s: f32) {
  // expected-error @below {{expected the mask_mod to yield an 'i1'}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t)  maps [#q, #k, #v, #o] mask_mod {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    attn.yield %j : index
  }
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c12_causal(%t: !t, %s: f32, %n: index) {
  // expected-error @below {{expected no operands of mask #attn.causal<top_left>, but got 1}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) mask(#attn.causal<top_left> with %n : index) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c12_window(%t: !t, %s: f32, %n: index) {
  // expected-error @below {{expected 2 widths of type index of the window, but got 1}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) mask(#attn.window<top_left, left, right> with %n : index) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c12_window_types(%t: !t, %s: f32, %n: i32) {
  // expected-error @below {{expected 1 widths of type index of the window, but got 1}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) mask(#attn.window<top_left, right> with %n : i32) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c13_softcap(%t: !t, %s: f32, %c: f64) {
  // expected-error @below {{expected a softcap of type 'f32', but got 'f64'}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) softcap(%c : f64) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c13_sinks(%t: !t, %s: f32, %x: memref<?x?xf32>) {
  // expected-error @below {{expected sinks to be one dimension of 'f32', but got 'memref<?x?xf32>'}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) sinks(%x : memref<?x?xf32>) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c13_cu_seqlens(%t: !t, %s: f32, %x: memref<?xi32>) {
  // expected-error @below {{expected cu_seqlens of queries and keys, but got 1}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) cu_seqlens(%x : memref<?xi32>) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c13_cu_seqlens_type(%t: !t, %s: f32, %x: memref<?xi64>) {
  // expected-error @below {{expected cu_seqlens to be one dimension of 'i32', but got 'memref<?xi64>'}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) cu_seqlens(%x, %x : memref<?xi64>, memref<?xi64>) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @attention_c13_seqused(%t: !t, %s: f32, %x: memref<?xf32>) {
  // expected-error @below {{expected seqused to be one dimension of 'i32', but got 'memref<?xf32>'}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%s)
      outs(%t : !t) seqused(%x : memref<?xf32>) maps [#q, #k, #v, #o]
  return
}
