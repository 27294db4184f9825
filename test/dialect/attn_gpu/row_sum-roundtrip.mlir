// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn_gpu.row_sum
func.func @row_sum(%partial: vector<16xf32>) -> vector<16xf32> {
  %sum = attn_gpu.row_sum %partial : vector<16xf32>
  return %sum : vector<16xf32>
}
