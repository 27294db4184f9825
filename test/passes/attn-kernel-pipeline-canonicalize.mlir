// What a user runs between passes changes nothing of the kernel's structure.
//
// DEFINE: %{options} =
// DEFINE: %{c} = canonicalize,cse
// DEFINE: %{plain} = attn-opt %s --attn-schedule-pipeline=%{options} --attn-tile-pipeline --attn-kernel-pipeline
// DEFINE: %{between} = attn-opt %s --pass-pipeline='builtin.module(attn-schedule-pipeline{%{options}},func.func(%{c},attn-tile,%{c},attn-fuse-online-softmax,%{c},attn-split-masked-tiles,%{c}),attn-map-to-gpu,%{c},gpu.module(gpu.func(attn-defer-row-sums,%{c},attn-rescale-lazily,%{c},attn-guard-hidden-values,%{c},attn-async-copies,%{c},attn-async-matmuls,%{c},attn-specialize-warpgroups,%{c},attn-skip-absent-rows,%{c},attn-skip-hidden-tiles,%{c},attn-overlap-softmax,%{c},attn-prefetch-copies,%{c},attn-expand-bands,%{c},attn-expand-softmax{fuse-exponents=true},%{c},attn-lower-tile-loops,%{c},attn-hoist-to-host,%{c})))'

// REDEFINE: %{options} = target=sm_90a
// RUN: %{plain} | FileCheck %s --check-prefixes=CHECK,FA3 --implicit-check-not=mma_async --implicit-check-not=tma_load
// RUN: %{between} | FileCheck %s --check-prefixes=CHECK,FA3 --implicit-check-not=mma_async --implicit-check-not=tma_load
// REDEFINE: %{options} = target=sm_80
// RUN: %{plain} | FileCheck %s --implicit-check-not=mma_async
// RUN: %{between} | FileCheck %s --implicit-check-not=mma_async

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// CHECK-LABEL: gpu.func @dynamic
// FA3-COUNT-3: attn_gpu.tma_load
// CHECK-COUNT-6: attn_gpu.mma_async
func.func @dynamic(%q: memref<?x?x?x64xbf16>, %k: memref<?x?x?x64xbf16>, %v: memref<?x?x?x64xbf16>, %o: memref<?x?x?x64xbf16>, %scale: f32) {
  attn.attention query(%q : memref<?x?x?x64xbf16>) key(%k : memref<?x?x?x64xbf16>) value(%v : memref<?x?x?x64xbf16>)
      scale(%scale) outs(%o : memref<?x?x?x64xbf16>) mask(#attn.causal<bottom_right>) maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: gpu.func @pinned
// FA3-COUNT-3: attn_gpu.tma_load
// CHECK-COUNT-6: attn_gpu.mma_async
func.func @pinned(%q: memref<2x512x4x64xbf16>, %k: memref<2x512x4x64xbf16>, %v: memref<2x512x4x64xbf16>, %o: memref<2x512x4x64xbf16>, %scale: f32) {
  attn.attention query(%q : memref<2x512x4x64xbf16>) key(%k : memref<2x512x4x64xbf16>) value(%v : memref<2x512x4x64xbf16>)
      scale(%scale) outs(%o : memref<2x512x4x64xbf16>) mask(#attn.causal<bottom_right>) maps [#q, #k, #v, #o]
  return
}

// CHECK-LABEL: gpu.func @ones
// FA3-COUNT-3: attn_gpu.tma_load
// CHECK-COUNT-6: attn_gpu.mma_async
func.func @ones(%q: memref<1x1x1x8xbf16>, %k: memref<1x1x1x8xbf16>, %v: memref<1x1x1x8xbf16>, %o: memref<1x1x1x8xbf16>, %scale: f32) {
  attn.attention query(%q : memref<1x1x1x8xbf16>) key(%k : memref<1x1x1x8xbf16>) value(%v : memref<1x1x1x8xbf16>)
      scale(%scale) outs(%o : memref<1x1x1x8xbf16>) mask(#attn.causal<bottom_right>) maps [#q, #k, #v, #o]
  return
}
