// RUN: attn-opt %s -split-input-file -verify-diagnostics

!map = !attn_gpu.tensor_map<1x16x1x64xbf16, swizzle = 128>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @tma_load_c1(%map: !map, %channel: !channel, %i: index) {
  // expected-error @below {{expected one coordinate per dimension of the box, but got 2 for 4}}
  attn_gpu.tma_load %map[%i, %i] to %channel[%i] : !map to !channel
  return
}

// -----

!map = !attn_gpu.tensor_map<1x16x1x64xf16, swizzle = 128>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @tma_load_c2_elements(%map: !map, %channel: !channel, %i: index) {
  // expected-error @below {{expected map and channel to agree on element type and swizzle}}
  attn_gpu.tma_load %map[%i, %i, %i, %i] to %channel[%i] : !map to !channel
  return
}

// -----

!map = !attn_gpu.tensor_map<1x16x1x32xbf16, swizzle = 64>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @tma_load_c2_swizzle(%map: !map, %channel: !channel, %i: index) {
  // expected-error @below {{expected map and channel to agree on element type and swizzle}}
  attn_gpu.tma_load %map[%i, %i, %i, %i] to %channel[%i] : !map to !channel
  return
}

// -----

!map = !attn_gpu.tensor_map<1x32x1x64xbf16, swizzle = 128>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @tma_load_c3(%map: !map, %channel: !channel, %i: index) {
  // expected-error @below {{expected a box of 16 rows, but got 32}}
  attn_gpu.tma_load %map[%i, %i, %i, %i] to %channel[%i] : !map to !channel
  return
}
