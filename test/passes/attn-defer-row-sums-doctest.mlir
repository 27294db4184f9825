// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-defer-row-sums)))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @defer
  // CHECK: %[[PARTIAL:.*]] = scf.for
  // CHECK:   vector.multi_reduction <add>, {{.*}} {attn_gpu.partial}
  // CHECK: %[[SUM:.*]] = attn_gpu.row_sum %[[PARTIAL]]
  // CHECK: vector.transfer_write %[[SUM]]
  gpu.func @defer(%p: vector<16x8xf32>, %a: vector<16xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %scaled = arith.mulf %l, %a : vector<16xf32>
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
      %next = arith.addf %scaled, %part : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }
}
