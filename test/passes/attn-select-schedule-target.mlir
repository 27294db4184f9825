// RUN: attn-opt %s --attn-select-schedule=target=sm_80 | FileCheck %s
// RUN: attn-opt %s --attn-select-schedule=target=sm_90a | FileCheck %s --check-prefix=FA3
// RUN: not attn-opt %s --attn-select-schedule=target=tpu 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: style = fa2, target = "sm_80", {{.*}} registers = [], overlap = true
// FA3: style = fa3, target = "sm_90a"
// NONE: no schedule for head dim 64 fits tpu
// NONE-COUNT-7: note: {{.*}}: expected a known target, but got tpu

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
