// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn_gpu.mma_wait %{{.*}} pending(1) : <16x8xf32>
func.func @mma_wait(%value: !attn_gpu.inflight<16x8xf32>) -> vector<16x8xf32> {
  %r = attn_gpu.mma_wait %value pending(1) : !attn_gpu.inflight<16x8xf32>
  return %r : vector<16x8xf32>
}
