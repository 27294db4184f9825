// RUN: attn-opt %s --attn-tile | FileCheck %s

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#schedule = #attn.schedule<style = host, target = "host", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 0,
                           persistent = false, descending = false>
!t = memref<?x?x?x16xbf16>

// CHECK-LABEL: @tile
// CHECK: attn.tile_grid (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) in {{.*}} workers(2)
// CHECK:   attn.band
// CHECK:   %[[MAX:[^ ]*]] = attn.tile_loop {{.*}} carries(maximum
// CHECK:     vector.multi_reduction <maxnumf>
// CHECK:   %[[SUMS:[^ ]*]]:2 = attn.tile_loop {{.*}} carries(sum {{.*}}, accumulator
// CHECK:     attn.softmax_weights %{{.*}} relative(%[[MAX]])
// CHECK:   arith.divf %{{.*}}, %[[SUMS]]#0
// CHECK:   vector.transfer_write
func.func @tile(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) schedule(#schedule) maps [#q, #k, #v, #o]
  return
}
