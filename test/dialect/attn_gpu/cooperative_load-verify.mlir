// RUN: attn-opt %s -split-input-file -verify-diagnostics

!tensor = memref<?x?x64xbf16>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @cooperative_load_c1(%tensor: !tensor, %channel: !channel, %i: index) {
  // expected-error @below {{expected one coordinate per dimension of the tensor, but got 2 for 3}}
  attn_gpu.cooperative_load %tensor[%i, %i] rows(1) to %channel[%i] : !tensor to !channel
  return
}

// -----

!tensor = memref<?x?x64xf16>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @cooperative_load_c2(%tensor: !tensor, %channel: !channel, %i: index) {
  // expected-error @below {{expected tensor and channel to agree on element type}}
  attn_gpu.cooperative_load %tensor[%i, %i, %i] rows(1) to %channel[%i] : !tensor to !channel
  return
}

// -----

!tensor = memref<?x?x64xbf16>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @cooperative_load_c3_last(%tensor: !tensor, %channel: !channel, %i: index) {
  // expected-error @below {{expected rows along a dimension before the last and columns without gaps, but got rows along 2}}
  attn_gpu.cooperative_load %tensor[%i, %i, %i] rows(2) to %channel[%i] : !tensor to !channel
  return
}

// -----

!tensor = memref<?x?x64xbf16, strided<[?, ?, ?]>>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @cooperative_load_c3_gaps(%tensor: !tensor, %channel: !channel, %i: index) {
  // expected-error @below {{expected rows along a dimension before the last and columns without gaps, but got rows along 1}}
  attn_gpu.cooperative_load %tensor[%i, %i, %i] rows(1) to %channel[%i] : !tensor to !channel
  return
}
