// RUN: attn-opt %s --attn-schedule-pipeline --attn-tile-pipeline --attn-map-to-gpu | FileCheck %s

// The name of the kernels' module is taken, and there are two of them.

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xf16>

// CHECK-LABEL: gpu.module @kernels
// CHECK-NEXT: gpu.func @theirs
// CHECK-NEXT: gpu.return
gpu.module @kernels {
  gpu.func @theirs() kernel {
    gpu.return
  }
}

// CHECK: gpu.module @[[OURS:kernels_[0-9]+]]
// CHECK: gpu.func @full
// CHECK: gpu.func @causal
// CHECK-NOT: func.func
func.func @full(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) maps [#q, #k, #v, #o]
  return
}

func.func @causal(%q: !t, %k: !t, %v: !t, %o: !t, %scale: f32) {
  attn.attention query(%q : !t) key(%k : !t) value(%v : !t) scale(%scale)
      outs(%o : !t) mask(#attn.causal<top_left>) maps [#q, #k, #v, #o]
  return
}
