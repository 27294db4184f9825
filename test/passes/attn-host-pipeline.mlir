// RUN: attn-opt %s --attn-schedule-pipeline=target=host --attn-tile-pipeline --attn-host-pipeline | FileCheck %s

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#q_dim_first = affine_map<(b, h, m, n, d, e) -> (b, h, d, m)>
!bf16 = memref<?x?x?x24xbf16, strided<[?, ?, ?, 1], offset: ?>>
!f64 = memref<?x?x?x64xf64>
!dim_first = memref<?x?x64x?xf64>

// Nothing but LLVM's dialect is left, and bf16 is rounded by integers: there is
// no call of a runtime library.
// CHECK-LABEL: llvm.func @half
// CHECK-SAME: %{{[^:]*}}: f32)
// CHECK-NOT: {{ (scf|vector|arith|memref|attn|cf)\.}}
// CHECK-NOT: llvm.fptrunc
// CHECK: llvm.lshr
// CHECK: llvm.return
func.func @half(%q: !bf16, %k: !bf16, %v: !bf16, %o: !bf16, %scale: f32) {
  attn.attention query(%q : !bf16) key(%k : !bf16) value(%v : !bf16) scale(%scale)
      outs(%o : !bf16) mask(#attn.causal<bottom_right>) maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: llvm.func @double
// CHECK-SAME: %{{[^:]*}}: f64)
// CHECK-NOT: f32
// CHECK: llvm.intr.fma
// CHECK: llvm.intr.exp2
// CHECK: llvm.return
func.func @double(%q: !f64, %k: !f64, %v: !f64, %o: !f64, %scale: f64) {
  attn.attention query(%q : !f64) key(%k : !f64) value(%v : !f64) scale(%scale)
      outs(%o : !f64) maps [#q, #k, #v, #o]
  return
}

// Columns that lie apart are read one by one.
// CHECK-LABEL: llvm.func @columns_apart
// CHECK-NOT: {{ (scf|vector|arith|memref|attn|cf)\.}}
// CHECK: llvm.return
func.func @columns_apart(%q: !dim_first, %k: !f64, %v: !f64, %o: !f64, %scale: f64) {
  attn.attention query(%q : !dim_first) key(%k : !f64) value(%v : !f64) scale(%scale)
      outs(%o : !f64) maps [#q_dim_first, #k, #v, #o]
  return
}
