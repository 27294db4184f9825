// RUN: not attn-opt %s --attn-select-schedule=target=sm_80 2>&1 | FileCheck %s

// CHECK: no schedule for head dim 64 fits sm_80
// CHECK-COUNT-7: note: {{.*}}: style fa3 needs wgmma and tma, which sm_80 lacks

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @target(%t: !t, %scale: f32) {
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t) maps [#q, #k, #v, #o]
  return
}
