// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: !attn_gpu.tensor_map<1x16x1x64xbf16, swizzle = 128>
func.func private @tensor_map(!attn_gpu.tensor_map<1x16x1x64xbf16, swizzle = 128>)
