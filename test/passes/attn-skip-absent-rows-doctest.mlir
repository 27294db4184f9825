// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-skip-absent-rows)))' | FileCheck %s

!channel = !attn_gpu.channel<8x64xbf16, stages = 2, #attn_gpu.panels<rows = 8, swizzle = 128>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @hand_on
  // CHECK-SAME: (%[[TILES:[^ ]*]]: index, %[[N:[^ ]*]]: index, %[[ROW:[^ ]*]]: index, %{{.*}}: vector<16x8xf32>, %[[O:[^ ]*]]: memref<?x8xf32>)
  // CHECK: %[[ZERO:[^ ]*]] = arith.constant 0 : index
  // CHECK: scf.for
  // CHECK: %[[SIZE:.*]] = memref.dim %[[O]], %{{.*}}
  // CHECK: %[[ABSENT:.*]] = arith.cmpi sge, %[[ROW]], %[[SIZE]]
  // CHECK: %[[PRESENT:.*]] = arith.select %[[ABSENT]], %[[ZERO]], %[[N]]
  // CHECK: scf.for %[[I:.*]] = %[[PRESENT]] to %[[N]]
  // CHECK-NEXT: attn_gpu.receive %[[CHANNEL:.*]][%[[I]]]
  // CHECK-NEXT: attn_gpu.release %[[CHANNEL]][%[[I]]]
  // CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[PRESENT]]
  // CHECK: arith.addf
  gpu.func @hand_on(%tiles: index, %n: index, %row: index, %x: vector<16x8xf32>, %o: memref<?x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> vector<16x8xf32> {
          %tile = attn_gpu.receive %k[%i] : !channel
          %next = arith.addf %acc, %x : vector<16x8xf32>
          attn_gpu.release %k[%i] : !channel
          scf.yield %next : vector<16x8xf32>
        }
        vector.transfer_write %sum, %o[%row, %c0] {in_bounds = [false, true]} : vector<16x8xf32>, memref<?x8xf32>
      }
    }
    gpu.return
  }
}
