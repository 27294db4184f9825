// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn_gpu.mma_skip %{{.*}} : vector<16x8xf32> -> <16x8xf32>
func.func @mma_skip(%accumulator: vector<16x8xf32>) -> !attn_gpu.inflight<16x8xf32> {
  %r = attn_gpu.mma_skip %accumulator : vector<16x8xf32> -> !attn_gpu.inflight<16x8xf32>
  return %r : !attn_gpu.inflight<16x8xf32>
}
