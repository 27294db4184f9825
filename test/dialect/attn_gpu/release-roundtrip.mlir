// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
// CHECK: attn_gpu.release
func.func @release(%channel: !channel, %slot: index) {
  attn_gpu.release %channel[%slot] : !channel
  return
}
