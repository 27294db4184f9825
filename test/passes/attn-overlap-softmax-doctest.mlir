// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!channel = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!fragment = vector<64x16xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @overlap
  // CHECK: scf.if
  // CHECK: %[[R:[^ ]*]]:2 = scf.for {{.*}} iter_args(%[[ACC:[^ ]*]] = %{{.*}}, %[[WEIGHTS:[^ ]*]] = %{{.*}})
  // CHECK:   %[[SCORES:[^ ]*]] = attn_gpu.mma_async {{.*}} transpose_b
  // CHECK:   %[[VALUES:[^ ]*]] = attn_gpu.mma_async %[[WEIGHTS]], %{{.*}} accumulator(%[[ACC]] :
  // CHECK:   attn_gpu.mma_wait %[[SCORES]] pending(1)
  // CHECK:   math.exp2
  // CHECK:   attn_gpu.mma_wait %[[VALUES]] pending(0)
  // CHECK:   arith.truncf
  gpu.func @overlap(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
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
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }
}
