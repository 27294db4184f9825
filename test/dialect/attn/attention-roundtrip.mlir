// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

#q_bshd = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k_bshd = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v_bshd = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o_bshd = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#k_gqa = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 4, d)>
#v_gqa = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 4, e)>
#q_bhsd = affine_map<(b, h, m, n, d, e) -> (b, h, m, d)>
#k_bhsd = affine_map<(b, h, m, n, d, e) -> (b, h, n, d)>
#v_bhsd = affine_map<(b, h, m, n, d, e) -> (b, h, n, e)>
#o_bhsd = affine_map<(b, h, m, n, d, e) -> (b, h, m, e)>
#lse = affine_map<(b, h, m, n, d, e) -> (b, h, m)>

// CHECK-LABEL: @memrefs
// CHECK: attn.attention
func.func @memrefs(%q: memref<?x?x?x64xbf16>, %k: memref<?x?x?x64xbf16>,
                   %v: memref<?x?x?x64xbf16>, %o: memref<?x?x?x64xbf16>,
                   %scale: f32) {
  attn.attention query(%q : memref<?x?x?x64xbf16>)
                 key(%k : memref<?x?x?x64xbf16>)
                 value(%v : memref<?x?x?x64xbf16>) scale(%scale)
                 outs(%o : memref<?x?x?x64xbf16>)
                 maps [#q_bshd, #k_bshd, #v_bshd, #o_bshd]
  return
}

// CHECK-LABEL: @tensors
// CHECK: attn.attention
func.func @tensors(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>,
                   %v: tensor<?x?x?x32xf16>, %o: tensor<?x?x?x32xf16>,
                   %lse: tensor<?x?x?xf32>, %scale: f32)
    -> (tensor<?x?x?x32xf16>, tensor<?x?x?xf32>) {
  %r:2 = attn.attention query(%q : tensor<?x?x?x64xf16>)
                        key(%k : tensor<?x?x?x64xf16>)
                        value(%v : tensor<?x?x?x32xf16>) scale(%scale)
                        outs(%o, %lse : tensor<?x?x?x32xf16>, tensor<?x?x?xf32>)
                        maps [#q_bhsd, #k_bhsd, #v_bhsd, #o_bhsd, #lse]
                        -> tensor<?x?x?x32xf16>, tensor<?x?x?xf32>
  return %r#0, %r#1 : tensor<?x?x?x32xf16>, tensor<?x?x?xf32>
}

// A strided view in another memory space, grouped heads, a mask.
// CHECK-LABEL: @grouped
// CHECK: mask(#attn.causal<bottom_right>)
func.func @grouped(%q: memref<2x7x8x64xbf16, strided<[?, ?, ?, 1], offset: ?>, 1>,
                   %k: memref<2x9x2x64xbf16>, %v: memref<2x9x2x64xbf16>,
                   %o: memref<2x7x8x64xf32>, %scale: f32) {
  attn.attention query(%q : memref<2x7x8x64xbf16, strided<[?, ?, ?, 1], offset: ?>, 1>)
                 key(%k : memref<2x9x2x64xbf16>)
                 value(%v : memref<2x9x2x64xbf16>) scale(%scale)
                 outs(%o : memref<2x7x8x64xf32>)
                 mask(#attn.causal<bottom_right>)
                 maps [#q_bshd, #k_gqa, #v_gqa, #o_bshd]
  return
}

// CHECK-LABEL: @scheduled
// CHECK: schedule(<style = host
func.func @scheduled(%q: memref<?x?x?x64xf64>, %k: memref<?x?x?x64xf64>,
                     %v: memref<?x?x?x64xf64>, %o: memref<?x?x?x64xf64>,
                     %scale: f64) {
  attn.attention query(%q : memref<?x?x?x64xf64>)
                 key(%k : memref<?x?x?x64xf64>)
                 value(%v : memref<?x?x?x64xf64>) scale(%scale)
                 outs(%o : memref<?x?x?x64xf64>)
                 schedule(#attn.schedule<style = host, target = "host",
                          rows = 16, keys = 16, workers = 1, query_stages = 1, stages = 1,
                          registers = [], overlap = false,
                          rescale_threshold = 0, persistent = false,
                          descending = false>)
                 maps [#q_bshd, #k_bshd, #v_bshd, #o_bshd]
  return
}

// Regions see nothing but their arguments, the captures behind the indices.
// CHECK-LABEL: @regions
// CHECK: captures(%{{.*}} : memref<?xf32>)
// CHECK: score_mod {
// CHECK: mask_mod {
func.func @regions(%t: memref<?x?x?x64xbf16>, %scale: f32, %slopes: memref<?xf32>) {
  attn.attention query(%t : memref<?x?x?x64xbf16>)
                 key(%t : memref<?x?x?x64xbf16>)
                 value(%t : memref<?x?x?x64xbf16>) scale(%scale)
                 outs(%t : memref<?x?x?x64xbf16>)
                 captures(%slopes : memref<?xf32>)
                 maps [#q_bshd, #k_bshd, #v_bshd, #o_bshd]
  score_mod {
  ^bb0(%score: f32, %b: index, %h: index, %i: index, %j: index, %s: memref<?xf32>):
    %slope = memref.load %s[%h] : memref<?xf32>
    %biased = arith.addf %score, %slope : f32
    attn.yield %biased : f32
  } mask_mod {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %s: memref<?xf32>):
    %visible = arith.cmpi sle, %j, %i : index
    attn.yield %visible : i1
  } {tag = "kept"}
  return
}

// CHECK-LABEL: @window
// CHECK: mask(#attn.window<bottom_right, left, right> with %{{.*}}, %{{.*}} : index, index)
func.func @window(%t: memref<?x?x?x64xbf16>, %scale: f32, %left: index, %right: index) {
  attn.attention query(%t : memref<?x?x?x64xbf16>)
                 key(%t : memref<?x?x?x64xbf16>)
                 value(%t : memref<?x?x?x64xbf16>) scale(%scale)
                 outs(%t : memref<?x?x?x64xbf16>)
                 mask(#attn.window<bottom_right, left, right> with %left, %right : index, index)
                 maps [#q_bshd, #k_bshd, #v_bshd, #o_bshd]
  return
}

#bias = affine_map<(b, h, m, n, d, e) -> (0, h, m, n)>

// CHECK-LABEL: @groups
// CHECK: softcap(%{{.*}} : f32) bias(%{{.*}} : memref<1x?x?x?xf32>) sinks(%{{.*}} : memref<?xf32>) cu_seqlens(%{{.*}}, %{{.*}} : memref<?xi32>, memref<?xi32>) seqused(%{{.*}} : memref<?xi32>)
func.func @groups(%t: memref<?x?x?x64xbf16>, %scale: f32, %cap: f32,
                  %bias: memref<1x?x?x?xf32>, %sinks: memref<?xf32>,
                  %starts: memref<?xi32>, %used: memref<?xi32>) {
  attn.attention query(%t : memref<?x?x?x64xbf16>)
                 key(%t : memref<?x?x?x64xbf16>)
                 value(%t : memref<?x?x?x64xbf16>) scale(%scale)
                 outs(%t : memref<?x?x?x64xbf16>) softcap(%cap : f32)
                 bias(%bias : memref<1x?x?x?xf32>) sinks(%sinks : memref<?xf32>)
                 cu_seqlens(%starts, %starts : memref<?xi32>, memref<?xi32>)
                 seqused(%used : memref<?xi32>)
                 maps [#q_bshd, #k_bshd, #v_bshd, #o_bshd, #bias]
  return
}
