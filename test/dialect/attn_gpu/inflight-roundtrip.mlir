// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: !attn_gpu.inflight<16x8xf32>
func.func private @inflight(!attn_gpu.inflight<16x8xf32>)
