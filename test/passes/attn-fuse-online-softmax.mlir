// RUN: attn-opt %s --attn-fuse-online-softmax | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
!tile = vector<16x8xf32>

// The product with V is rescaled by the same factor as its weights move.
// CHECK-LABEL: @unrounded_product
// CHECK: %[[MOVED:[^ ]*]] = attn.rescale {{.*}} from(%{{.*}}) to(%{{.*}}) factor({{.*}}) : vector<16x4xf32>
// CHECK: %[[P:[^ ]*]] = attn.softmax_weights
// CHECK: vector.contract {{.*}} %[[P]], %{{.*}}, %[[MOVED]]
func.func @unrounded_product(%s: !tile, %n: index, %c: f32, %v: vector<8x4xf32>)
    -> vector<16x4xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16x4xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %none : vector<16xf32>) {
    %next = vector.multi_reduction <maxnumf>, %s, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  %o = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(accumulator %acc = %zero : vector<16x4xf32>) {
    %p = attn.softmax_weights %s relative(%max) factor(%c) : !tile, vector<16xf32>
    %next = vector.contract {indexing_maps = [#a, #b, #c], kind = #vector.kind<add>, iterator_types = ["parallel", "parallel", "reduction"]}
        %p, %v, %acc : vector<16x8xf32>, vector<8x4xf32> into vector<16x4xf32>
    attn.yield %next : vector<16x4xf32>
  }
  return %o : vector<16x4xf32>
}

// Rounding the weights for the product changes nothing of that.
// CHECK-LABEL: @rounded_product
// CHECK: attn.rescale
// CHECK: arith.truncf
func.func @rounded_product(%s: !tile, %n: index, %c: f32, %v: vector<8x4xbf16>)
    -> vector<16x4xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16x4xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %none : vector<16xf32>) {
    %next = vector.multi_reduction <maxnumf>, %s, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  %o = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(accumulator %acc = %zero : vector<16x4xf32>) {
    %p = attn.softmax_weights %s relative(%max) factor(%c) : !tile, vector<16xf32>
    %r = arith.truncf %p : !tile to vector<16x8xbf16>
    %next = vector.contract {indexing_maps = [#a, #b, #c], kind = #vector.kind<add>, iterator_types = ["parallel", "parallel", "reduction"]}
        %r, %v, %acc : vector<16x8xbf16>, vector<8x4xbf16> into vector<16x4xf32>
    attn.yield %next : vector<16x4xf32>
  }
  return %o : vector<16x4xf32>
}
