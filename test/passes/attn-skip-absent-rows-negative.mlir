// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-skip-absent-rows)))' | FileCheck %s --implicit-check-not=arith.select

!channel = !attn_gpu.channel<8x64xbf16, stages = 2, #attn_gpu.panels<rows = 8, swizzle = 128>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @negative_all_rows_exist
  gpu.func @negative_all_rows_exist(%tiles: index, %n: index, %row: index, %x: vector<16xf32>, %o: memref<?xf32>) kernel {
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
        vector.transfer_write %x, %o[%row] {in_bounds = [true]} : vector<16xf32>, memref<?xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_row_found_by_the_loop
  gpu.func @negative_row_found_by_the_loop(%tiles: index, %n: index, %x: vector<16xf32>, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        %row = scf.for %i = %c0 to %n step %c1 iter_args(%r = %c0) -> index {
          %tile = attn_gpu.receive %k[%i] : !channel
          %next = arith.addi %r, %i : index
          attn_gpu.release %k[%i] : !channel
          scf.yield %next : index
        }
        vector.transfer_write %x, %o[%row] {in_bounds = [false]} : vector<16xf32>, memref<?xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_another_effect
  gpu.func @negative_another_effect(%tiles: index, %n: index, %row: index, %x: vector<16xf32>, %o: memref<?xf32>, %count: memref<index>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        scf.for %i = %c0 to %n step %c1 {
          %tile = attn_gpu.receive %k[%i] : !channel
          memref.store %i, %count[] : memref<index>
          attn_gpu.release %k[%i] : !channel
        }
        vector.transfer_write %x, %o[%row] {in_bounds = [false]} : vector<16xf32>, memref<?xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_slot_carried_by_the_loop
  gpu.func @negative_slot_carried_by_the_loop(%tiles: index, %n: index, %row: index, %x: vector<16xf32>, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        %end = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %c0) -> index {
          %number = arith.addi %slot, %i : index
          %tile = attn_gpu.receive %k[%number] : !channel
          attn_gpu.release %k[%number] : !channel
          scf.yield %number : index
        }
        vector.transfer_write %x, %o[%row] {in_bounds = [false]} : vector<16xf32>, memref<?xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_nested_row_found_by_the_loop
  gpu.func @negative_nested_row_found_by_the_loop(%tiles: index, %n: index, %row: index, %x: vector<16xf32>, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        %found = scf.for %i = %c0 to %n step %c1 iter_args(%r = %c0) -> (index) {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
          %next = arith.addi %r, %i : index
          scf.yield %next : index
        }
        vector.transfer_write %x, %o[%row] {in_bounds = [false]} : vector<16xf32>, memref<?xf32>
        scf.for %i = %c0 to %n step %c1 {
          %own = arith.addi %found, %i : index
          vector.transfer_write %x, %o[%own] {in_bounds = [false]} : vector<16xf32>, memref<?xf32>
        }
      }
    }
    gpu.return
  }
}
