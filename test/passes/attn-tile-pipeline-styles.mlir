// The same tiles enter all three lowerings: but for the schedule of the grid, no
// style shows in them.
// RUN: sed -e 's/STYLE/host/; s/TARGET/host/; s/REGISTERS//' %s | attn-opt --attn-tile-pipeline | sed -e 's/schedule([^)]*)/schedule/' >%t.host
// RUN: sed -e 's/STYLE/fa2/; s/TARGET/sm_80/; s/REGISTERS//' %s | attn-opt --attn-tile-pipeline | sed -e 's/schedule([^)]*)/schedule/' >%t.fa2
// RUN: sed -e 's/STYLE/fa3/; s/TARGET/sm_90a/; s/REGISTERS/56, 248/' %s | attn-opt --attn-tile-pipeline | sed -e 's/schedule([^)]*)/schedule/' >%t.fa3
// RUN: diff %t.host %t.fa2
// RUN: diff %t.host %t.fa3
// RUN: FileCheck %s <%t.host

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#schedule = #attn.schedule<style = STYLE, target = "TARGET", rows = 64, keys = 64,
                           workers = 1, query_stages = 1, stages = 1, registers = [REGISTERS],
                           overlap = false, rescale_threshold = 0,
                           persistent = false, descending = false>
!t = memref<?x?x?x64xbf16>

// CHECK-LABEL: @attention
// CHECK: attn.tile_grid {{.*}} workers(1) schedule {
// CHECK: attn.tile_loop {{.*}} carries(maximum {{.*}}, sum {{.*}}, accumulator
// CHECK: vector.contract
// CHECK: attn.mask_band
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: attn.softmax_weights
// CHECK: vector.contract
// CHECK: vector.transfer_write
func.func @attention(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) mask(#attn.causal<bottom_right>) schedule(#schedule)
      maps [#q, #k, #v, #o]
  return
}
