// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
// CHECK: attn_gpu.channel consumers(3) : <16x64xbf16, stages = 2, <rows = 16, swizzle = 128>>
func.func @channel() -> !channel {
  %c = attn_gpu.channel consumers(3) : !channel
  return %c : !channel
}
