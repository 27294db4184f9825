// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn_gpu.partial_sum %{{.*}} : vector<16x8xf32> -> vector<16xf32>
func.func @partial_sum(%p: vector<16x8xf32>) -> vector<16xf32> {
  %sum = attn_gpu.partial_sum %p : vector<16x8xf32> -> vector<16xf32>
  return %sum : vector<16xf32>
}
