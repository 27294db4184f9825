// RUN: attn-opt %s -split-input-file -verify-diagnostics

#panels = #attn_gpu.panels<rows = 16, swizzle = 128>
func.func @tile_value_c1_shape(%tile: !attn_gpu.tile<16x64xbf16, #panels>) {
  // expected-error @below {{expected a result of type 'vector<16x64xbf16>', but got 'vector<64x16xbf16>'}}
  attn_gpu.tile_value %tile : !attn_gpu.tile<16x64xbf16, #panels> -> vector<64x16xbf16>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 16, swizzle = 128>
func.func @tile_value_c1_elements(%tile: !attn_gpu.tile<16x64xbf16, #panels>) {
  // expected-error @below {{expected a result of type 'vector<16x64xbf16>', but got 'vector<16x64xf16>'}}
  attn_gpu.tile_value %tile : !attn_gpu.tile<16x64xbf16, #panels> -> vector<16x64xf16>
  return
}
