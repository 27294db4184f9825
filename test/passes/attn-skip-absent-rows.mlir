// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-skip-absent-rows)))' | FileCheck %s

!channel = !attn_gpu.channel<8x64xbf16, stages = 2, #attn_gpu.panels<rows = 8, swizzle = 128>>

gpu.module @kernels {
  // A worker is absent only where none of its writes is of a row that exists;
  // loops that follow each other still do.
  // CHECK-LABEL: gpu.func @chain_and_two_writes
  // CHECK-SAME: (%{{[^ ]*}}: index, %[[PARTIAL:[^ ]*]]: index, %[[N:[^ ]*]]: index
  // CHECK: %[[FIRST:.*]] = arith.cmpi sge
  // CHECK: %[[SECOND:.*]] = arith.cmpi sge
  // CHECK: %[[ABSENT:.*]] = arith.andi %[[FIRST]], %[[SECOND]]
  // CHECK: %[[END:.*]] = arith.select %[[ABSENT]], %{{.*}}, %[[PARTIAL]]
  // CHECK: %[[LAST:.*]] = arith.select %[[ABSENT]], %{{.*}}, %[[N]]
  // CHECK: scf.for %{{.*}} = %[[LAST]] to %[[N]]
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
  // CHECK: scf.for %{{.*}} = %[[END]] to %[[LAST]]
  gpu.func @chain_and_two_writes(%tiles: index, %partial: index, %n: index, %row: index, %x: vector<16xf32>, %o: memref<?xf32>, %p: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        scf.for %i = %c0 to %partial step %c1 {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
        }
        scf.for %i = %partial to %n step %c1 {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
        }
        vector.transfer_write %x, %o[%row] {in_bounds = [false]} : vector<16xf32>, memref<?xf32>
        vector.transfer_write %x, %p[%row] {in_bounds = [false]} : vector<16xf32>, memref<?xf32>
      }
    }
    gpu.return
  }

  // A write may stand in a branch.
  // CHECK-LABEL: gpu.func @nested_write
  // CHECK-SAME: (%{{[^ ]*}}: index, %[[N:[^ ]*]]: index
  // CHECK: %[[FIRST:.*]] = arith.cmpi sge
  // CHECK: %[[SECOND:.*]] = arith.cmpi sge
  // CHECK: %[[ABSENT:.*]] = arith.andi %[[FIRST]], %[[SECOND]]
  // CHECK: %[[END:.*]] = arith.select %[[ABSENT]], %{{.*}}, %[[N]]
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
  gpu.func @nested_write(%tiles: index, %n: index, %row: index, %again: i1, %x: vector<16xf32>, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        scf.for %i = %c0 to %n step %c1 {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
        }
        vector.transfer_write %x, %o[%row] {in_bounds = [false]} : vector<16xf32>, memref<?xf32>
        scf.if %again {
          vector.transfer_write %x, %o[%row] {in_bounds = [false]} : vector<16xf32>, memref<?xf32>
        }
      }
    }
    gpu.return
  }
}
