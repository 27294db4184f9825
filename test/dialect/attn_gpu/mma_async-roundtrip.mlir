// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

#panels = #attn_gpu.panels<rows = 64, swizzle = 128>
// CHECK-LABEL: @both_in_shared_memory
// CHECK: attn_gpu.mma_async {{.*}} transpose_b :
func.func @both_in_shared_memory(%q: !attn_gpu.tile<64x128xf16, #panels>,
                                 %k: !attn_gpu.tile<16x128xf16, #panels>)
    -> !attn_gpu.inflight<64x16xf32> {
  %s = attn_gpu.mma_async %q, %k transpose_b
      : !attn_gpu.tile<64x128xf16, #panels>, !attn_gpu.tile<16x128xf16, #panels>
      -> !attn_gpu.inflight<64x16xf32>
  return %s : !attn_gpu.inflight<64x16xf32>
}

// CHECK-LABEL: @registers_and_accumulator
// CHECK: attn_gpu.mma_async {{.*}} accumulator(
func.func @registers_and_accumulator(%p: vector<64x16xbf16>,
                                     %v: !attn_gpu.tile<16x128xbf16, #panels>,
                                     %acc: vector<64x128xf32>)
    -> !attn_gpu.inflight<64x128xf32> {
  %o = attn_gpu.mma_async %p, %v accumulator(%acc : vector<64x128xf32>)
      : vector<64x16xbf16>, !attn_gpu.tile<16x128xbf16, #panels>
      -> !attn_gpu.inflight<64x128xf32>
  return %o : !attn_gpu.inflight<64x128xf32>
}
