// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-skip-absent-rows)))' | FileCheck %s

!channel = !attn_gpu.channel<8x64xbf16, stages = 2, #attn_gpu.panels<rows = 8, swizzle = 128>>
!x = vector<16xf32>

gpu.module @kernels {
  // A worker is absent only where none of its writes is of a row that exists.
  // CHECK-LABEL: gpu.func @two_writes
  // CHECK: %[[FIRST:.*]] = arith.cmpi sge
  // CHECK: %[[SECOND:.*]] = arith.cmpi sge
  // CHECK: %[[ABSENT:.*]] = arith.andi %[[FIRST]], %[[SECOND]]
  // CHECK: arith.select %[[ABSENT]]
  gpu.func @two_writes(%tiles: index, %p: index, %n: index, %row: index, %x: !x, %o: memref<?xf32>, %q: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        attn.tile_loop (%i, %key) over keys step 8 first(%n) descending from(%c0) segments(partial %p, full %n) {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
        }
        vector.transfer_write %x, %o[%row] : !x, memref<?xf32>
        vector.transfer_write %x, %q[%row] : !x, memref<?xf32>
      }
    }
    gpu.return
  }

  // A write may stand in a branch.
  // CHECK-LABEL: gpu.func @nested_write
  // CHECK: %[[FIRST:.*]] = arith.cmpi sge
  // CHECK: %[[SECOND:.*]] = arith.cmpi sge
  // CHECK: %[[ABSENT:.*]] = arith.andi %[[FIRST]], %[[SECOND]]
  // CHECK: arith.select %[[ABSENT]]
  gpu.func @nested_write(%tiles: index, %p: index, %n: index, %row: index, %x: !x, %o: memref<?xf32>, %again: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        attn.tile_loop (%i, %key) over keys step 8 first(%n) descending from(%c0) segments(partial %p, full %n) {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
        }
        vector.transfer_write %x, %o[%row] : !x, memref<?xf32>
        scf.if %again {
          vector.transfer_write %x, %o[%row] : !x, memref<?xf32>
        }
      }
    }
    gpu.return
  }

  // A slot is computed anew from the iteration, however it is made.
  // CHECK-LABEL: gpu.func @slot_of_the_iteration
  // CHECK: attn.tile_loop (%[[I:[^,]*]], %{{.*}}) {{.*}} segments(full
  // CHECK-NEXT: %[[TWICE:.*]] = arith.addi %[[I]], %[[I]]
  // CHECK-NEXT: %[[SLOT:.*]] = arith.muli %[[TWICE]], %[[I]]
  // CHECK-NEXT: attn_gpu.receive %{{.*}}[%[[SLOT]]]
  gpu.func @slot_of_the_iteration(%tiles: index, %p: index, %n: index, %row: index, %x: !x, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%c0) segments(full %n) {
          %twice = arith.addi %i, %i : index
          %slot = arith.muli %twice, %i : index
          %tile = attn_gpu.receive %k[%slot] : !channel
          attn_gpu.release %k[%slot] : !channel
        }
        vector.transfer_write %x, %o[%row] : !x, memref<?xf32>
      }
    }
    gpu.return
  }
}
