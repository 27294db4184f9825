// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: !attn_gpu.tile<16x64xbf16, <rows = 16, swizzle = 128>>
func.func private @whole(!attn_gpu.tile<16x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>)

// CHECK: !attn_gpu.tile<16x64xf8E4M3FN, <rows = 48, swizzle = 64>>
func.func private @part(!attn_gpu.tile<16x64xf8E4M3FN, #attn_gpu.panels<rows = 48, swizzle = 64>>)
