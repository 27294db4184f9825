// RUN: attn-opt %s --attn-schedule-pipeline --attn-tile-pipeline | FileCheck %s
// RUN: attn-opt %s --attn-schedule-pipeline --attn-tile-pipeline | FileCheck %s --check-prefix=TILES

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
!pinned = memref<1x1x1x64xbf16>

// Tiles know nothing of a GPU.
// TILES-NOT: gpu.

// CHECK-LABEL: @attention
// CHECK: attn.tile_grid {{.*}} workers(3)
// CHECK: attn.tile_loop {{.*}} segments(partial %{{.*}}, full %{{.*}}) carries(maximum
// CHECK: attn.mask_band
// CHECK-NOT: attn.tile_loop
func.func @attention(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) mask(#attn.causal<bottom_right>) maps [#q, #k, #v, #o]
  return
}

// Extents of 1 and loops of one iteration stay.
// CHECK-LABEL: @lengths_of_1
// CHECK: attn.tile_grid {{.*}} in (%[[ONE:[^ ,]*]], %[[ONE]], %[[ONE]]) workers(3)
// CHECK: attn.tile_loop
func.func @lengths_of_1(%t: !pinned, %scale: f32) {
  attn.attention query(%t : !pinned) key(%t : !pinned) value(%t : !pinned)
      scale(%scale) outs(%t : !pinned) maps [#q, #k, #v, #o]
  return
}
