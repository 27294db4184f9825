// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: #attn_gpu.panels<rows = 64, swizzle = 128>
// CHECK-SAME: #attn_gpu.panels<rows = 8, swizzle = 32>
func.func private @panels() attributes {
  a = #attn_gpu.panels<rows = 64, swizzle = 128>,
  b = #attn_gpu.panels<rows = 8, swizzle = 32>
}
