// RUN: attn-opt %s --attn-tile | FileCheck %s

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#k_gqa = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 4, d)>
#v_gqa = affine_map<(b, h, m, n, d, e) -> (b, n, h floordiv 4, e)>
#q_bhsd = affine_map<(b, h, m, n, d, e) -> (b, h, m, d)>
#k_bhsd = affine_map<(b, h, m, n, d, e) -> (b, h, n, d)>
#v_bhsd = affine_map<(b, h, m, n, d, e) -> (b, h, n, e)>
#o_bhsd = affine_map<(b, h, m, n, d, e) -> (b, h, m, e)>
#lse = affine_map<(b, h, m, n, d, e) -> (b, h, m)>
#schedule = #attn.schedule<style = host, target = "host", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 0,
                           persistent = false, descending = false>
!t = memref<?x?x?x16xbf16>
!f32 = memref<?x?x?x16xf32>
!f64 = memref<?x?x?x16xf64>
!d24 = memref<?x?x?x24xbf16>
!lse = memref<?x?x?xf32>

// CHECK-LABEL: @schedule_stays
// CHECK-NOT: attn.attention
// CHECK: attn.tile_grid {{.*}} workers(2) schedule(#attn.schedule<style = host
func.func @schedule_stays(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}

// One band bounds every tile of keys, in both loops.
// CHECK-LABEL: @no_mask
// CHECK: %[[SQ:[^ ]*]] = memref.dim
// CHECK: %[[SK:[^ ]*]] = memref.dim
// CHECK: %[[LOWER:[^ ]*]], %[[UPPER:[^ ]*]] = attn.band rows(%{{.*}}) of(%{{.*}}, %{{.*}}) lengths(%[[SQ]], %[[SK]]) : vector<16xindex>
// CHECK: attn.tile_loop (%{{.*}}, %[[KEY:[^ ]*]]) over keys step 8 {{.*}} segments(partial
// CHECK: attn.mask_band %{{.*}} at(%[[KEY]]) [%[[LOWER]], %[[UPPER]]]
// CHECK: attn.tile_loop (%{{.*}}, %[[SAME:[^ ]*]]) over keys
// CHECK: attn.mask_band %{{.*}} at(%[[SAME]]) [%[[LOWER]], %[[UPPER]]]
func.func @no_mask(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: @mask
// CHECK: attn.band {{.*}} mask(#attn.causal<bottom_right>)
func.func @mask(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) mask(#attn.causal<bottom_right>) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: @grouped_heads
// CHECK: attn.tile_grid (%{{.*}}, %[[HEAD:[^ ]*]], %{{.*}}, %{{.*}}) in
// CHECK: %[[GROUP:[^ ]*]] = arith.constant 4
// CHECK: %[[KEY_HEAD:[^ ]*]] = arith.divui %[[HEAD]], %[[GROUP]]
// CHECK: vector.transfer_read %{{.*}}[%{{.*}}, %{{.*}}, %[[HEAD]], %{{.*}}]
// CHECK: vector.transfer_read %{{.*}}[%{{.*}}, %{{.*}}, %[[KEY_HEAD]], %{{.*}}]
func.func @grouped_heads(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) schedule(#schedule)
      maps [#q, #k_gqa, #v_gqa, #o]
  return
}

// CHECK-LABEL: @heads_before_rows
// CHECK: attn.tile_grid (%[[BATCH:[^ ]*]], %[[HEAD:[^ ]*]], %{{.*}}, %{{.*}}) in
// CHECK: %[[ROW:[^ ]*]] = arith.addi
// CHECK: vector.transfer_read %{{.*}}[%[[BATCH]], %[[HEAD]], %[[ROW]], %{{.*}}]
// CHECK: vector.transfer_write %{{.*}}[%[[BATCH]], %[[HEAD]], %[[ROW]], %{{.*}}]
func.func @heads_before_rows(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) schedule(#schedule)
      maps [#q_bhsd, #k_bhsd, #v_bhsd, #o_bhsd]
  return
}

// Infinity is no factor: a score equal to the maximum has weight 1, however
// large the scale is.
// CHECK-LABEL: @large_scores
// CHECK: %[[SCALE:[^ ]*]] = arith.mulf
// CHECK: %[[LARGEST:[^ ]*]] = arith.constant 3.40282347E+38
// CHECK: %[[FACTOR:[^ ]*]] = arith.minnumf %[[SCALE]], %[[LARGEST]]
// CHECK: attn.softmax_weights %{{.*}} factor(%[[FACTOR]])
func.func @large_scores(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}

// LSE is -inf, not the logarithm of 0, for a row that sees nothing.
// CHECK-LABEL: @lse
// CHECK: %[[EMPTY:[^ ]*]] = arith.cmpf oeq, %[[SUM:[^ ]*]]#0,
// CHECK: %[[LOG:[^ ]*]] = math.log2 %[[SUM]]#0
// CHECK: %[[NATURAL:[^ ]*]] = arith.mulf %[[LOG]]
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[NATURAL]]
// CHECK: %[[LSE:[^ ]*]] = arith.select %[[EMPTY]]
// CHECK: vector.transfer_write %[[LSE]]
func.func @lse(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !lse, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o, %lse : !t, !lse) schedule(#schedule)
      maps [#q, #k, #v, #o, #lse]
  return
}

// CHECK-LABEL: @negative_no_lse
// CHECK-NOT: math.log2
func.func @negative_no_lse(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}

// The inner extent of a product is padded with zeros to a multiple of 16.
// CHECK-LABEL: @odd_head_dim
// CHECK: vector.transfer_read {{.*}} {permutation_map = {{.*}} vector<16x32xbf16>
// CHECK: vector.transfer_read {{.*}} {permutation_map = {{.*}} vector<8x32xbf16>
// CHECK: vector.transfer_read {{.*}} {in_bounds = [false, true]{{.*}} vector<8x24xbf16>
func.func @odd_head_dim(%q: !d24, %k: !d24, %v: !d24, %o: !d24, %scale: f32) {
  attn.attention query(%q : !d24) key(%k : !d24) value(%v : !d24) scale(%scale)
      outs(%o : !d24) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: @negative_f32_is_not_rounded
// CHECK-NOT: arith.truncf
func.func @negative_f32_is_not_rounded(%q: !f32, %k: !f32, %v: !f32, %o: !f32, %scale: f32) {
  attn.attention query(%q : !f32) key(%k : !f32) value(%v : !f32) scale(%scale)
      outs(%o : !f32) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: @two_ops
// CHECK-COUNT-2: attn.tile_grid
func.func @two_ops(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) schedule(#schedule)
      maps [#q, #k, #v, #o]
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}

// All of f64 is f64: scale, statistics and sums, and nothing is rounded.
// CHECK-LABEL: @f64
// CHECK: arith.constant 1.4426950408889634 : f64
// CHECK-NOT: f32
// CHECK-NOT: arith.truncf
// CHECK: vector.transfer_write %{{.*}} : vector<16x16xf64>
// CHECK: vector.transfer_write %{{.*}} : vector<16xf64>
func.func @f64(%q: !f64, %k: !f64, %v: !f64, %o: !f64, %lse: memref<?x?x?xf64>, %scale: f64) {
  attn.attention query(%q : !f64) key(%k : !f64) value(%v : !f64) scale(%scale)
      outs(%o, %lse : !f64, memref<?x?x?xf64>) schedule(#schedule)
      maps [#q, #k, #v, #o, #lse]
  return
}

// CHECK-LABEL: @wider_output
// CHECK: arith.extf %{{.*}} : vector<16x16xf32> to vector<16x16xf64>
func.func @wider_output(%q: !f32, %k: !f32, %v: !f32, %o: !f64, %scale: f32) {
  attn.attention query(%q : !f32) key(%k : !f32) value(%v : !f32) scale(%scale)
      outs(%o : !f64) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}
