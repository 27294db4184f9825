// RUN: attn-opt %s -split-input-file -verify-diagnostics

#panels = #attn_gpu.panels<rows = 48, swizzle = 128>
func.func @subtile_c1_columns(%tile: !attn_gpu.tile<48x64xbf16, #panels>, %row: index) {
  // expected-error @below {{expected source and result to differ in rows only}}
  attn_gpu.subtile %tile[%row] : !attn_gpu.tile<48x64xbf16, #panels>
      to !attn_gpu.tile<16x32xbf16, #panels>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 48, swizzle = 128>
func.func @subtile_c1_elements(%tile: !attn_gpu.tile<48x64xbf16, #panels>, %row: index) {
  // expected-error @below {{expected source and result to differ in rows only}}
  attn_gpu.subtile %tile[%row] : !attn_gpu.tile<48x64xbf16, #panels>
      to !attn_gpu.tile<16x64xf16, #panels>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 48, swizzle = 128>
func.func @subtile_c1_layout(%tile: !attn_gpu.tile<48x64xbf16, #panels>, %row: index) {
  // expected-error @below {{expected source and result to differ in rows only}}
  attn_gpu.subtile %tile[%row] : !attn_gpu.tile<48x64xbf16, #panels>
      to !attn_gpu.tile<16x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 48, swizzle = 128>
func.func @subtile_c2_groups(%tile: !attn_gpu.tile<48x64xbf16, #panels>, %row: index) {
  // expected-error @below {{expected a multiple of 8 rows that divides 48, but got 12}}
  attn_gpu.subtile %tile[%row] : !attn_gpu.tile<48x64xbf16, #panels>
      to !attn_gpu.tile<12x64xbf16, #panels>
  return
}

// -----

#panels = #attn_gpu.panels<rows = 48, swizzle = 128>
func.func @subtile_c2_divides(%tile: !attn_gpu.tile<48x64xbf16, #panels>, %row: index) {
  // expected-error @below {{expected a multiple of 8 rows that divides 48, but got 32}}
  attn_gpu.subtile %tile[%row] : !attn_gpu.tile<48x64xbf16, #panels>
      to !attn_gpu.tile<32x64xbf16, #panels>
  return
}
