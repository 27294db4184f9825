// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-prefetch-copies,cse)))' -verify-diagnostics | FileCheck %s

!ring = !attn_gpu.channel<16x64xbf16, stages = 1, #attn_gpu.panels<rows = 16, swizzle = 128>>
!ring2 = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!rows = !attn_gpu.tile<8x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tensor = memref<?x64xbf16>

gpu.module @kernels {
  // Two slots, and a loop from the last key down: two tiles of K and one of V
  // are on their way before the loop.
  // CHECK-LABEL: gpu.func @two_slots_descending
  // CHECK-SAME: %[[K:[^:]*]]: memref<?x64xbf16>, %[[V:[^:]*]]: memref<?x64xbf16>, %[[FIRST:[^:]*]]: index, %[[N:[^:]*]]: index
  // CHECK: arith.cmpi slt, %c0, %[[N]]
  // CHECK: cooperative_load %[[K]]
  // CHECK: cooperative_load %[[V]]
  // CHECK: arith.cmpi slt, %c1, %[[N]]
  // CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %c1
  // CHECK: %[[SECOND:.*]] = arith.subi %[[END]], %{{.*}}
  // CHECK: %[[KEY:.*]] = arith.muli %[[SECOND]], %c16
  // CHECK: cooperative_load %[[K]][%[[KEY]],
  // CHECK-NOT: cooperative_load
  // CHECK: attn.tile_loop (%[[I:[^ ]*]],
  // CHECK: attn_gpu.receive
  // CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1
  // CHECK: arith.cmpi slt, %[[NEXT]], %[[N]]
  // CHECK: arith.subi %{{.*}}, %{{.*}}
  // CHECK: cooperative_load %[[V]]
  // CHECK: attn_gpu.receive
  // CHECK: %[[AFTER:.*]] = arith.addi %[[I]], %c2
  // CHECK: cooperative_load %[[K]]{{.*}}[%[[AFTER]]]
  gpu.func @two_slots_descending(%K: !tensor, %V: !tensor, %first: index, %n: index, %k: !ring2, %v: !ring2) kernel {
    %c0 = arith.constant 0 : index
    attn.tile_loop (%i, %key) over keys step 16 first(%first) descending from(%c0) segments(partial %n) {
      attn_gpu.cooperative_load %K[%key, %c0] rows(0) to %k[%i] : !tensor to !ring2
      %0 = attn_gpu.receive %k[%i] : !ring2
      attn_gpu.release %k[%i] : !ring2
      attn_gpu.cooperative_load %V[%key, %c0] rows(0) to %v[%i] : !tensor to !ring2
      %1 = attn_gpu.receive %v[%i] : !ring2
      attn_gpu.release %v[%i] : !ring2
    }
    gpu.return
  }

  // What waits in front of the loop waits behind the first loads.
  // CHECK-LABEL: gpu.func @query
  // CHECK: attn_gpu.cooperative_load
  // CHECK-NOT: attn_gpu.receive
  // CHECK: attn_gpu.cooperative_load
  // CHECK: attn_gpu.receive
  // CHECK-NEXT: attn_gpu.subtile
  // CHECK-NEXT: attn.tile_loop
  gpu.func @query(%Q: !tensor, %K: !tensor, %n: index, %q: !ring, %k: !ring2) kernel {
    %c0 = arith.constant 0 : index
    attn_gpu.cooperative_load %Q[%n, %c0] rows(0) to %q[%c0] : !tensor to !ring
    %t = attn_gpu.receive %q[%c0] : !ring
    %mine = attn_gpu.subtile %t[%c0] : !tile to !rows
    attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(full %n) {
      attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring2
      %0 = attn_gpu.receive %k[%i] : !ring2
      %1 = attn_gpu.mma_async %mine, %0 transpose_b : !rows, !tile -> !attn_gpu.inflight<8x16xf32>
      attn_gpu.release %k[%i] : !ring2
    }
    gpu.return
  }

  // A tile that is received one iteration behind its load: the prologue has
  // loaded one more than it received. It goes out of the branch, under the same
  // condition, with the tile that the first iteration has a slot for.
  // CHECK-LABEL: gpu.func @prologue
  // CHECK-SAME: %[[V:[^:]*]]: memref<?x64xbf16>, %[[ANY:[^:]*]]: i1
  // CHECK: scf.if %[[ANY]] {
  // CHECK-NEXT: attn_gpu.cooperative_load %[[V]][%c0,
  // CHECK-NEXT: }
  // CHECK: scf.if %[[ANY]] {
  // CHECK: attn.tile_loop (%[[I:[^ ]*]],
  // CHECK: attn_gpu.receive
  // CHECK-NEXT: attn_gpu.cooperative_load %[[V]][%[[I]],
  gpu.func @prologue(%V: !tensor, %any: i1, %n: index, %v: !ring2) kernel {
    %c0 = arith.constant 0 : index
    scf.if %any {
      %c1 = arith.constant 1 : index
      attn_gpu.cooperative_load %V[%c0, %c0] rows(0) to %v[%c0] : !tensor to !ring2
      attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c1) segments(full %n) {
        %before = arith.subi %i, %c1 : index
        %0 = attn_gpu.receive %v[%before] : !ring2
        attn_gpu.release %v[%before] : !ring2
        attn_gpu.cooperative_load %V[%i, %c0] rows(0) to %v[%i] : !tensor to !ring2
      }
    }
    gpu.return
  }
}
