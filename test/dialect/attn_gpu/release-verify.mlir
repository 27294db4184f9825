// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @release_a_tile(%tile: !attn_gpu.tile<16x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>, %slot: index) {
  // expected-error @below {{operand #0 must be a ring of tiles in shared memory between producer and consumers}}
  "attn_gpu.release"(%tile, %slot) : (!attn_gpu.tile<16x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>, index) -> ()
  return
}
