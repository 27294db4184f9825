// RUN: attn-opt %s --attn-schedule-pipeline --attn-tile-pipeline --attn-kernel-pipeline -split-input-file | FileCheck %s

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>

// CHECK-LABEL: gpu.func @attention
// CHECK-COUNT-3: attn_gpu.channel consumers(3)
// CHECK: attn_gpu.specialize producer(32)
// CHECK-COUNT-3: attn_gpu.tma_load
// CHECK-NOT: attn_gpu.tma_load
// CHECK: } consumers(3, 160) {
// CHECK-NOT: vector.contract
// CHECK: gpu.return
func.func @attention(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) mask(#attn.causal<bottom_right>) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<1x1x1x8xbf16>

// CHECK-LABEL: gpu.func @lengths_of_1
// CHECK-COUNT-3: attn_gpu.channel consumers(3)
// CHECK: attn_gpu.specialize producer(32)
func.func @lengths_of_1(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>

// One tensor in three roles is three copies.
// CHECK-LABEL: gpu.func @one_tensor
// CHECK-COUNT-3: attn_gpu.channel consumers(3)
func.func @one_tensor(%t: !t, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %scale: f32) {
  attn.attention query(%t : !t) key(%t : !t) value(%v : memref<?x?x?x128xbf16>)
      scale(%scale) outs(%o : memref<?x?x?x128xbf16>) maps [#q, #k, #v, #o]
  return
}
