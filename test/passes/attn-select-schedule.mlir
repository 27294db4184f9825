// RUN: attn-opt %s --attn-select-schedule | FileCheck %s

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!d8 = memref<?x?x?x8xf16>
!d64 = memref<?x?x?x64xbf16>
!d256 = memref<?x?x?x256xbf16>

// CHECK-LABEL: @unmasked_tiles_are_alike
// CHECK: overlap = true, rescale_threshold = 8, persistent = true, descending = false
func.func @unmasked_tiles_are_alike(%t: !d64, %scale: f32) {
  attn.attention query(%t : !d64) key(%t : !d64) value(%t : !d64) scale(%scale)
      outs(%t : !d64) maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: @longest_tiles_of_a_masked_op_first
// CHECK: persistent = true, descending = true
func.func @longest_tiles_of_a_masked_op_first(%t: !d64, %scale: f32) {
  attn.attention query(%t : !d64) key(%t : !d64) value(%t : !d64) scale(%scale)
      outs(%t : !d64) mask(#attn.causal<top_left>) maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: @small_head_dim
// CHECK: rows = 192, keys = 128, workers = 3
func.func @small_head_dim(%t: !d8, %scale: f32) {
  attn.attention query(%t : !d8) key(%t : !d8) value(%t : !d8) scale(%scale)
      outs(%t : !d8) maps [#q, #k, #v, #o]
  return
}

// The wider of two head dims counts.
// CHECK-LABEL: @large_head_dim
// CHECK: rows = 128, {{.*}} workers = 2
func.func @large_head_dim(%t: !d64, %v: !d256, %scale: f32) {
  attn.attention query(%t : !d64) key(%t : !d64) value(%v : !d256) scale(%scale)
      outs(%v : !d256) maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: @the_word_of_the_user_wins
// CHECK: rows = 64, keys = 32, workers = 1, query_stages = 1, stages = 3
func.func @the_word_of_the_user_wins(%t: !d64, %scale: f32) {
  attn.attention query(%t : !d64) key(%t : !d64) value(%t : !d64) scale(%scale)
      outs(%t : !d64)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 64,
               keys = 32, workers = 1, query_stages = 1, stages = 3, registers = [24, 256],
               overlap = false, rescale_threshold = 0, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: @negative_no_attention
// CHECK-NOT: attn.
func.func @negative_no_attention() {
  return
}
