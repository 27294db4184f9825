// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

#panels = #attn_gpu.panels<rows = 16, swizzle = 128>
// CHECK: attn_gpu.tile_value
func.func @tile_value(%tile: !attn_gpu.tile<16x64xbf16, #panels>)
    -> vector<16x64xbf16> {
  %values = attn_gpu.tile_value %tile
      : !attn_gpu.tile<16x64xbf16, #panels> -> vector<16x64xbf16>
  return %values : vector<16x64xbf16>
}
