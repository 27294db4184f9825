// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!channel = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!fragment = vector<64x16xf32>
!queries = !attn_gpu.channel<64x16xbf16, stages = 1, #attn_gpu.panels<rows = 64, swizzle = 128>>
!query = !attn_gpu.tile<64x16xbf16, #attn_gpu.panels<rows = 64, swizzle = 128>>

gpu.module @kernels {
  // Only the scores read the query tile: it is free before the last product.
  // CHECK-LABEL: gpu.func @released_after_the_scores
  // CHECK: %[[QUERIES:.*]] = attn_gpu.channel {{.*}} <64x16xbf16
  // CHECK: } else {
  // CHECK-NEXT: attn_gpu.release %[[QUERIES]]
  // CHECK: }
  // CHECK-NOT: attn_gpu.release
  gpu.func @released_after_the_scores(%n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %qs = attn_gpu.channel consumers(1) : !queries
    %q = attn_gpu.receive %qs[%c0] : !queries
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : !query, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    attn_gpu.release %qs[%c0] : !queries
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_read_behind_the_loops
  // CHECK: %[[QUERIES:.*]] = attn_gpu.channel {{.*}} <64x16xbf16
  // CHECK: } else {
  // CHECK-NEXT: scf.yield
  // CHECK: attn_gpu.tile_value
  // CHECK-NEXT: attn_gpu.release %[[QUERIES]]
  gpu.func @negative_read_behind_the_loops(%n: index, %o: memref<64x16xf32>, %p: memref<64x16xbf16>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %qs = attn_gpu.channel consumers(1) : !queries
    %q = attn_gpu.receive %qs[%c0] : !queries
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : !query, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    %again = attn_gpu.tile_value %q : !query -> vector<64x16xbf16>
    attn_gpu.release %qs[%c0] : !queries
    vector.transfer_write %again, %p[%c0, %c0] : vector<64x16xbf16>, memref<64x16xbf16>
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }
}
