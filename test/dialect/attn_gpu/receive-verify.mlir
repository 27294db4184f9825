// RUN: attn-opt %s -split-input-file -verify-diagnostics

!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<8x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @receive_another_tile(%channel: !channel, %slot: index) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{are incompatible with return type(s) of operation}}
  "attn_gpu.receive"(%channel, %slot) : (!channel, index) -> !tile
  return
}
