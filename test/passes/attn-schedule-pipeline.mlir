// RUN: attn-opt %s --attn-schedule-pipeline | FileCheck %s
// RUN: attn-opt %s --attn-schedule-pipeline=target=sm_90a | FileCheck %s
// RUN: not attn-opt %s --attn-schedule-pipeline=target=sm_1 2>&1 | FileCheck %s --check-prefix=UNKNOWN

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>

// CHECK: attn.attention
// CHECK-SAME: schedule(<style = fa3, target = "sm_90a"
// UNKNOWN: no schedule for head dim 64 fits sm_1
// UNKNOWN: note: {{.*}}: expected a known target, but got sm_1
func.func @attention(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) mask(#attn.causal<bottom_right>) maps [#q, #k, #v, #o]
  return
}
