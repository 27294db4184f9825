// RUN: attn-opt %s -split-input-file -verify-diagnostics

#panels = #attn_gpu.panels<rows = 64, swizzle = 128>
func.func @mma_async_c1_alike(%a: vector<64x16xf16>,
    %b: !attn_gpu.tile<16x128xbf16, #panels>) {
  // expected-error @below {{expected a and b to have one element type, f16 or bf16, but got 'f16' and 'bf16'}}
  attn_gpu.mma_async %a, %b
      : vector<64x16xf16>, !attn_gpu.tile<16x128xbf16, #panels>
      -> !attn_gpu.inflight<64x128xf32>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 64, swizzle = 128>
func.func @mma_async_c1_float(%a: !attn_gpu.tile<64x16xf32, #panels>,
    %b: !attn_gpu.tile<16x128xf32, #panels>) {
  // expected-error @below {{expected a and b to have one element type, f16 or bf16, but got 'f32' and 'f32'}}
  attn_gpu.mma_async %a, %b
      : !attn_gpu.tile<64x16xf32, #panels>, !attn_gpu.tile<16x128xf32, #panels>
      -> !attn_gpu.inflight<64x128xf32>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 64, swizzle = 128>
func.func @mma_async_c2(%a: vector<64x16xbf16>,
    %b: !attn_gpu.tile<32x128xbf16, #panels>) {
  // expected-error @below {{expected the inner extents of a and b to match, but got 16 and 32}}
  attn_gpu.mma_async %a, %b
      : vector<64x16xbf16>, !attn_gpu.tile<32x128xbf16, #panels>
      -> !attn_gpu.inflight<64x128xf32>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 64, swizzle = 128>
func.func @mma_async_c2_transposed(%a: vector<64x16xbf16>,
    %b: !attn_gpu.tile<16x128xbf16, #panels>) {
  // expected-error @below {{expected the inner extents of a and b to match, but got 16 and 128}}
  attn_gpu.mma_async %a, %b transpose_b
      : vector<64x16xbf16>, !attn_gpu.tile<16x128xbf16, #panels>
      -> !attn_gpu.inflight<64x128xf32>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 64, swizzle = 128>
func.func @mma_async_c3(%a: vector<64x16xbf16>,
    %b: !attn_gpu.tile<16x128xbf16, #panels>) {
  // expected-error @below {{expected a result of 64x128, but got '!attn_gpu.inflight<64x64xf32>'}}
  attn_gpu.mma_async %a, %b
      : vector<64x16xbf16>, !attn_gpu.tile<16x128xbf16, #panels>
      -> !attn_gpu.inflight<64x64xf32>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 64, swizzle = 128>
func.func @mma_async_c4(%a: vector<64x16xbf16>,
    %b: !attn_gpu.tile<16x128xbf16, #panels>,
    %acc: vector<64x64xf32>) {
  // expected-error @below {{expected an accumulator of type 'vector<64x128xf32>', but got 'vector<64x64xf32>'}}
  attn_gpu.mma_async %a, %b accumulator(%acc : vector<64x64xf32>)
      : vector<64x16xbf16>, !attn_gpu.tile<16x128xbf16, #panels>
      -> !attn_gpu.inflight<64x128xf32>
  return
}
