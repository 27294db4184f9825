// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn_gpu.warp_any
func.func @warp_any(%condition: vector<16xi1>) -> i1 {
  %any = attn_gpu.warp_any %condition : vector<16xi1>
  return %any : i1
}
