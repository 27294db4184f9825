// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn_gpu.warp_barrier
func.func @warp_barrier() {
  attn_gpu.warp_barrier
  return
}
