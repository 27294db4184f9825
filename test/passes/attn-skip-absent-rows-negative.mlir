// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-skip-absent-rows)))' -verify-diagnostics | FileCheck %s --implicit-check-not=arith.select

!channel = !attn_gpu.channel<8x64xbf16, stages = 2, #attn_gpu.panels<rows = 8, swizzle = 128>>
!x = vector<16xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @negative_all_rows_exist
  gpu.func @negative_all_rows_exist(%tiles: index, %p: index, %n: index, %row: index, %x: !x, %o: memref<?xf32>) kernel {
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
        vector.transfer_write %x, %o[%row] {in_bounds = [true]} : !x, memref<?xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_row_found_by_the_loop
  gpu.func @negative_row_found_by_the_loop(%tiles: index, %p: index, %n: index, %row: index, %x: !x, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      // expected-remark @below {{absent rows are computed: expected one loop that receives tiles, and writes of rows known before it}}
      scf.for %t = %c0 to %tiles step %c1 {
        %found = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%c0) segments(full %n) carries(sum %r = %c0 : index) {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
          %next = arith.addi %r, %i : index
          attn.yield %next : index
        }
        vector.transfer_write %x, %o[%found] : !x, memref<?xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_another_effect
  gpu.func @negative_another_effect(%tiles: index, %p: index, %n: index, %row: index, %x: !x, %o: memref<?xf32>, %count: memref<index>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      // expected-remark @below {{absent rows are computed: expected one loop that receives tiles, and writes of rows known before it}}
      scf.for %t = %c0 to %tiles step %c1 {
        attn.tile_loop (%i, %key) over keys step 8 first(%n) descending from(%c0) segments(partial %p, full %n) {
          %tile = attn_gpu.receive %k[%i] : !channel
          memref.store %i, %count[] : memref<index>
          attn_gpu.release %k[%i] : !channel
        }
        vector.transfer_write %x, %o[%row] : !x, memref<?xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_slot_carried_by_the_loop
  gpu.func @negative_slot_carried_by_the_loop(%tiles: index, %p: index, %n: index, %row: index, %x: !x, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      // expected-remark @below {{absent rows are computed: expected one loop that receives tiles, and writes of rows known before it}}
      scf.for %t = %c0 to %tiles step %c1 {
        %found = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%c0) segments(full %n) carries(sum %r = %c0 : index) {
          %tile = attn_gpu.receive %k[%r] : !channel
          attn_gpu.release %k[%r] : !channel
          %next = arith.addi %r, %i : index
          attn.yield %next : index
        }
        vector.transfer_write %x, %o[%row] : !x, memref<?xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_two_loops
  gpu.func @negative_two_loops(%tiles: index, %p: index, %n: index, %row: index, %x: !x, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      // expected-remark @below {{absent rows are computed: expected one loop that receives tiles, and writes of rows known before it}}
      scf.for %t = %c0 to %tiles step %c1 {
        attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%c0) segments(full %n) {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
        }
        attn.tile_loop (%i, %key) over keys step 8 first(%n) descending from(%c0) segments(partial %p, full %n) {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
        }
        vector.transfer_write %x, %o[%row] : !x, memref<?xf32>
      }
    }
    gpu.return
  }
}
