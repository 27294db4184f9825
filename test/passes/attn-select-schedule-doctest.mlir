// RUN: attn-opt %s --attn-select-schedule | FileCheck %s

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x128xbf16>

// CHECK: attn.attention
// CHECK-SAME: schedule(<style = fa3, target = "sm_90a", rows = 192, keys = 80, workers = 3
func.func @select(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) maps [#q, #k, #v, #o]
  return
}
