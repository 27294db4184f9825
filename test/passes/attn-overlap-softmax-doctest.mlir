// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!ring = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!q = vector<64x16xbf16>
!s = vector<64x16xf32>
!started = !attn_gpu.inflight<64x16xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @overlap
  // CHECK-SAME: %[[K:[^ ]*]]: !attn_gpu.channel<{{.*}}>, %[[V:[^ ]*]]: !attn_gpu.channel<
  // The prologue: the first iteration but its PV product.
  // CHECK: scf.if
  // CHECK: attn_gpu.mma_async {{.*}} transpose_b
  // CHECK-NOT: accumulator
  // CHECK: %[[R:[^ ]*]]:2 = attn.tile_loop (%[[I:[^ ]*]], %{{.*}}) {{.*}} from(%{{.*}}) segments(full %{{.*}}) carries(accumulator %[[ACC:[^ ]*]] = {{.*}}, weights %[[P:[^ ]*]] =
  // CHECK:   attn_gpu.receive %[[K]][%[[I]]]
  // CHECK:   %[[QK:[^ ]*]] = attn_gpu.mma_async {{.*}} transpose_b
  // CHECK:   %[[PREVIOUS:[^ ]*]] = arith.subi %[[I]]
  // CHECK:   attn_gpu.receive %[[V]][%[[PREVIOUS]]]
  // CHECK:   %[[PV:[^ ]*]] = attn_gpu.mma_async %[[P]], %{{.*}} accumulator(%[[ACC]] :
  // CHECK:   attn_gpu.mma_wait %[[QK]] pending(1)
  // CHECK:   attn.softmax_weights
  // CHECK:   attn_gpu.mma_wait %[[PV]] pending(0)
  // CHECK:   arith.truncf
  // The epilogue.
  // CHECK: attn_gpu.mma_async %[[R]]#1, %{{.*}} accumulator(%[[R]]#0 :
  gpu.func @overlap(%K: !ring, %V: !ring, %q: !q, %m: vector<64xf32>, %f: f32, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !s
    %sum = attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(full %n)
        carries(accumulator %acc = %zero : !s) {
      %k = attn_gpu.receive %K[%i] : !ring
      %qk = attn_gpu.mma_async %q, %k transpose_b : !q, !tile -> !started
      %s = attn_gpu.mma_wait %qk pending(0) : !started
      attn_gpu.release %K[%i] : !ring
      %p = attn.softmax_weights %s relative(%m) factor(%f) : !s, vector<64xf32>
      %rounded = arith.truncf %p : !s to !q
      %v = attn_gpu.receive %V[%i] : !ring
      %pv = attn_gpu.mma_async %rounded, %v accumulator(%acc : !s) : !q, !tile -> !started
      %next = attn_gpu.mma_wait %pv pending(0) : !started
      attn_gpu.release %V[%i] : !ring
      attn.yield %next : !s
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !s, memref<64x16xf32>
    gpu.return
  }
}
