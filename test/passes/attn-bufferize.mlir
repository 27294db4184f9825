// RUN: attn-opt %s --one-shot-bufferize | FileCheck %s
// RUN: attn-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --attn-schedule-pipeline=target=host --attn-tile-pipeline | FileCheck %s --check-prefix=TILED

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = tensor<?x?x?x64xf16>

// CHECK-LABEL: @results_become_outs
// CHECK: %[[OUT:.*]] = memref.alloc
// CHECK: attn.attention
// CHECK-SAME: outs(%[[OUT]] : memref
// CHECK-SAME: mask(#attn.causal<top_left>)
// CHECK-NOT: ->
// CHECK: bufferization.to_tensor %[[OUT]]
// TILED-LABEL: @results_become_outs
// TILED: attn.tile_grid
func.func @results_become_outs(%q: !t, %k: !t, %v: !t, %scale: f32, %b: index, %s: index, %h: index) -> !t {
  %o = tensor.empty(%b, %s, %h) : !t
  %r = attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) mask(#attn.causal<top_left>) maps [#q, #k, #v, #o] -> !t
  return %r : !t
}

// An input that is also where the result goes is copied first: kernels read
// inputs again.
// CHECK-LABEL: @negative_in_place
// CHECK: %[[COPY:.*]] = memref.alloc
// CHECK: outs(%[[COPY]] : memref
func.func @negative_in_place(%q: !t, %k: !t, %v: !t, %scale: f32) -> !t {
  %r = attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%q : !t) maps [#q, #k, #v, #o] -> !t
  return %r : !t
}
