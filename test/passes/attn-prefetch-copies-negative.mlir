// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-prefetch-copies)))' -verify-diagnostics | FileCheck %s

!ring = !attn_gpu.channel<16x64xbf16, stages = 1, #attn_gpu.panels<rows = 16, swizzle = 128>>
!ring2 = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tensor = memref<?x64xbf16>

gpu.module @kernels {
  // A load behind its own tile's receive would never arrive.
  // CHECK-LABEL: gpu.func @negative_one_ring_of_one_slot
  // CHECK: attn.tile_loop
  // CHECK-NEXT: attn_gpu.cooperative_load
  gpu.func @negative_one_ring_of_one_slot(%K: !tensor, %k: !ring, %n: index) kernel {
    %c0 = arith.constant 0 : index
    // expected-remark @below {{not prefetched: expected a slot that is free in time}}
    attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(full %n) {
      attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring
      %0 = attn_gpu.receive %k[%i] : !ring
      attn_gpu.release %k[%i] : !ring
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_two_loads_of_a_channel
  // CHECK: attn.tile_loop
  // CHECK-NEXT: attn_gpu.cooperative_load
  gpu.func @negative_two_loads_of_a_channel(%K: !tensor, %k: !ring2, %n: index) kernel {
    %c0 = arith.constant 0 : index
    // expected-remark @below {{not prefetched: expected one load of each channel, one receive and one release behind it}}
    attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(partial %n) {
      attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring2
      attn_gpu.cooperative_load %K[%key, %c0] rows(0) to %k[%key] : !tensor to !ring2
      %0 = attn_gpu.receive %k[%i] : !ring2
      attn_gpu.release %k[%i] : !ring2
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_load_behind_the_loop
  // CHECK: attn.tile_loop
  // CHECK-NEXT: attn_gpu.cooperative_load
  gpu.func @negative_load_behind_the_loop(%K: !tensor, %k: !ring2, %n: index) kernel {
    %c0 = arith.constant 0 : index
    // expected-remark @below {{not prefetched: expected loads of a prologue, and none other}}
    attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(tail %n) {
      attn_gpu.cooperative_load %K[%key, %c0] rows(0) to %k[%i] : !tensor to !ring2
      %0 = attn_gpu.receive %k[%i] : !ring2
      attn_gpu.release %k[%i] : !ring2
    }
    attn_gpu.cooperative_load %K[%n, %c0] rows(0) to %k[%n] : !tensor to !ring2
    gpu.return
  }

  // The row is not yet in memory in front of the branch.
  // CHECK-LABEL: gpu.func @negative_coordinate_from_memory
  // CHECK: scf.if
  // CHECK-NEXT: memref.store
  gpu.func @negative_coordinate_from_memory(%K: !tensor, %m: memref<index>, %any: i1, %k: !ring2, %n: index) kernel {
    %c0 = arith.constant 0 : index
    scf.if %any {
      memref.store %n, %m[] : memref<index>
      %row = memref.load %m[] : memref<index>
      // expected-remark @below {{not prefetched: expected tiles that are known in front of the loop}}
      attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(full %n) {
        attn_gpu.cooperative_load %K[%row, %c0] rows(0) to %k[%i] : !tensor to !ring2
        %0 = attn_gpu.receive %k[%i] : !ring2
        attn_gpu.release %k[%i] : !ring2
      }
    }
    gpu.return
  }
}
