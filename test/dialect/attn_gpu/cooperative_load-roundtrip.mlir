// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

!tensor = memref<?x?x4x64xbf16, strided<[?, ?, ?, 1], offset: ?>>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
// CHECK: attn_gpu.cooperative_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] rows(1) to
func.func @cooperative_load(%tensor: !tensor, %channel: !channel, %i: index) {
  attn_gpu.cooperative_load %tensor[%i, %i, %i, %i] rows(1) to %channel[%i] : !tensor to !channel
  return
}
