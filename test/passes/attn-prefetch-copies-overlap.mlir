// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' | FileCheck %s --check-prefix=OVERLAP
// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax,attn-prefetch-copies,cse)))' | FileCheck %s

// The overlap takes loads along with what they fill, and the loads then move
// ahead of a loop whose trips read the values of the visit before.

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 16,
                           workers = 4, query_stages = 1, stages = 2,
                           registers = [], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!channel = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!fragment = vector<16x16xf32>
!tensor = memref<?x16xbf16>

gpu.module @kernels {
  // OVERLAP-LABEL: gpu.func @overlap
  // OVERLAP-SAME: %[[K:[^:]*]]: memref<?x16xbf16>, %[[V:[^:]*]]: memref<?x16xbf16>
  // OVERLAP: scf.if
  // OVERLAP: cooperative_load %[[K]]
  // OVERLAP-NEXT: receive
  // OVERLAP: scf.for %[[TRIP:[^ ]*]] =
  // OVERLAP: cooperative_load %[[K]][%[[TRIP]],
  // OVERLAP-NEXT: receive
  // OVERLAP: mma_async
  // OVERLAP: %[[BEFORE:.*]] = arith.subi %[[TRIP]]
  // OVERLAP: cooperative_load %[[V]][%[[BEFORE]],
  // OVERLAP-NEXT: receive
  // OVERLAP: mma_async
  // Behind the loop, the last visit's values.
  // OVERLAP: cooperative_load %[[V]]
  // OVERLAP-NEXT: receive

  // CHECK-LABEL: gpu.func @overlap
  // CHECK-SAME: %[[K:[^:]*]]: memref<?x16xbf16>, %[[V:[^:]*]]: memref<?x16xbf16>, %[[Q:[^:]*]]: vector<16x16xbf16>, %[[N:[^:]*]]: index
  // Two tiles of K and one of V are on their way before anything waits.
  // CHECK: scf.for
  // CHECK-NOT: attn_gpu.receive
  // CHECK: cooperative_load %[[K]]
  // CHECK: cooperative_load %[[K]]
  // CHECK: cooperative_load %[[V]]
  // CHECK: attn_gpu.receive
  // CHECK-NOT: cooperative_load
  // CHECK: scf.for %[[TRIP:[^ ]*]] =
  // CHECK: attn_gpu.receive
  // CHECK: %[[NEXT:.*]] = arith.addi %[[TRIP]], %c1
  // CHECK: arith.cmpi slt, %[[NEXT]], %[[N]]
  // CHECK: cooperative_load %[[K]]
  // The values of this trip's visit, read by the next trip.
  // CHECK: cooperative_load %[[V]]
  // CHECK: attn_gpu.receive
  // CHECK-NOT: cooperative_load
  // CHECK: gpu.return
  gpu.func @overlap(%K: !tensor, %V: !tensor, %q: vector<16x16xbf16>, %n: index, %o: memref<16x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(4) : !channel
    %v = attn_gpu.channel consumers(4) : !channel
    scf.for %t = %c0 to %n step %c1 {
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
        attn_gpu.cooperative_load %K[%j, %c0] rows(0) to %k[%j] : !tensor to !channel
        %keys = attn_gpu.receive %k[%j] : !channel
        %started = attn_gpu.mma_async %q, %keys transpose_b : vector<16x16xbf16>, !tile -> !attn_gpu.inflight<16x16xf32>
        %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<16x16xf32>
        attn_gpu.release %k[%j] : !channel
        %weights = math.exp2 %scores : !fragment
        %rounded = arith.truncf %weights : !fragment to vector<16x16xbf16>
        attn_gpu.cooperative_load %V[%j, %c0] rows(0) to %v[%j] : !tensor to !channel
        %values = attn_gpu.receive %v[%j] : !channel
        %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<16x16xbf16>, !tile -> !attn_gpu.inflight<16x16xf32>
        %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<16x16xf32>
        attn_gpu.release %v[%j] : !channel
        scf.yield %next : !fragment
      }
      vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<16x16xf32>
    }
    gpu.return
  }
}
