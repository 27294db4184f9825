// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

#panels = #attn_gpu.panels<rows = 48, swizzle = 128>
// CHECK: attn_gpu.subtile
func.func @subtile(%tile: !attn_gpu.tile<48x64xbf16, #panels>, %row: index)
    -> !attn_gpu.tile<16x64xbf16, #panels> {
  %mine = attn_gpu.subtile %tile[%row] : !attn_gpu.tile<48x64xbf16, #panels>
      to !attn_gpu.tile<16x64xbf16, #panels>
  return %mine : !attn_gpu.tile<16x64xbf16, #panels>
}
