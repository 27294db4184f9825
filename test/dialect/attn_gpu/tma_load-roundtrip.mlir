// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

!map = !attn_gpu.tensor_map<1x16x1x64xbf16, swizzle = 128>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
// CHECK: attn_gpu.tma_load
func.func @tma_load(%map: !map, %channel: !channel, %i: index) {
  attn_gpu.tma_load %map[%i, %i, %i, %i] to %channel[%i] : !map to !channel
  return
}
