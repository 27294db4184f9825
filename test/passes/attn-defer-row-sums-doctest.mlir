// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-defer-row-sums)))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @row_sum
  // CHECK: %[[PARTIAL:.*]] = attn.tile_loop {{.*}} carries(partial_sum %[[OLD:[^ ]*]] =
  // CHECK:   %[[PART:.*]] = attn_gpu.partial_sum %{{.*}} : vector<16x8xf32> -> vector<16xf32>
  // CHECK:   arith.addf %[[OLD]], %[[PART]]
  // CHECK: %[[SUM:.*]] = attn_gpu.row_sum %[[PARTIAL]]
  // CHECK: vector.transfer_write %[[SUM]]
  gpu.func @row_sum(%p: vector<16x8xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %r = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0) segments(full %n)
        carries(sum %l = %zero : vector<16xf32>) {
      %sum = vector.multi_reduction <add>, %p, %l [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %sum : vector<16xf32>
    }
    vector.transfer_write %r, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }
}
