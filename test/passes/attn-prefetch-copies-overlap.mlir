// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' | FileCheck %s --check-prefix=OVERLAP
// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax,attn-prefetch-copies,cse)))' | FileCheck %s

// Overlapped, each iteration still loads its own tiles, and receives that of V
// one iteration later: the loads then move ahead of the loop and its prologue.

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 16,
                           workers = 4, query_stages = 1, stages = 2,
                           registers = [], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!ring = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!q = vector<16x16xbf16>
!s = vector<16x16xf32>
!started = !attn_gpu.inflight<16x16xf32>
!tensor = memref<?x16xbf16>

gpu.module @kernels {
  // OVERLAP-LABEL: gpu.func @overlap
  // OVERLAP-SAME: %[[K:[^:]*]]: memref<?x16xbf16>, %[[V:[^:]*]]: memref<?x16xbf16>
  // OVERLAP: scf.if
  // OVERLAP: cooperative_load %[[K]]
  // OVERLAP: mma_async
  // OVERLAP: cooperative_load %[[V]]
  // OVERLAP: attn.tile_loop (%[[I:[^ ]*]], %[[KEY:[^ ]*]])
  // OVERLAP: cooperative_load %[[K]][%[[KEY]],
  // OVERLAP: mma_async
  // OVERLAP: %[[PREVIOUS:.*]] = arith.subi %[[I]]
  // OVERLAP: receive %{{.*}}[%[[PREVIOUS]]]
  // OVERLAP: mma_async
  // OVERLAP: release %{{.*}}[%[[PREVIOUS]]]
  // OVERLAP: cooperative_load %[[V]][%[[KEY]], {{.*}}[%[[I]]]
  // OVERLAP-NOT: cooperative_load
  // OVERLAP: gpu.return

  // CHECK-LABEL: gpu.func @overlap
  // CHECK-SAME: %[[K:[^:]*]]: memref<?x16xbf16>, %[[V:[^:]*]]: memref<?x16xbf16>, %[[Q:[^:]*]]: vector<16x16xbf16>, %[[N:[^:]*]]: index
  // Two tiles of K and one of V are on their way before anything waits.
  // CHECK-NOT: attn_gpu.receive
  // CHECK: cooperative_load %[[K]]
  // CHECK: cooperative_load %[[K]]
  // CHECK: cooperative_load %[[V]]
  // CHECK: attn_gpu.receive
  // CHECK-NOT: cooperative_load
  // CHECK: attn.tile_loop (%[[I:[^ ]*]], %[[KEY:[^ ]*]])
  // CHECK: attn_gpu.receive
  // CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1
  // CHECK: arith.cmpi slt, %[[NEXT]], %[[N]]
  // CHECK: cooperative_load %[[K]]
  // This iteration's tile of V, received in the next.
  // CHECK: cooperative_load %[[V]][%[[KEY]],
  // CHECK: attn_gpu.receive
  // CHECK-NOT: cooperative_load
  // CHECK: gpu.return
  gpu.func @overlap(%K: !tensor, %V: !tensor, %q: !q, %n: index, %k: !ring, %v: !ring, %m: vector<16xf32>, %f: f32, %o: memref<16x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !s
    %sum = attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(full %n)
        carries(accumulator %acc = %zero : !s) {
      attn_gpu.cooperative_load %K[%key, %c0] rows(0) to %k[%i] : !tensor to !ring
      %keys = attn_gpu.receive %k[%i] : !ring
      %qk = attn_gpu.mma_async %q, %keys transpose_b : !q, !tile -> !started
      %scores = attn_gpu.mma_wait %qk pending(0) : !started
      attn_gpu.release %k[%i] : !ring
      %p = attn.softmax_weights %scores relative(%m) factor(%f) : !s, vector<16xf32>
      %rounded = arith.truncf %p : !s to !q
      attn_gpu.cooperative_load %V[%key, %c0] rows(0) to %v[%i] : !tensor to !ring
      %values = attn_gpu.receive %v[%i] : !ring
      %pv = attn_gpu.mma_async %rounded, %values accumulator(%acc : !s) : !q, !tile -> !started
      %next = attn_gpu.mma_wait %pv pending(0) : !started
      attn_gpu.release %v[%i] : !ring
      attn.yield %next : !s
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !s, memref<16x16xf32>
    gpu.return
  }
}
