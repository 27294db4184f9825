// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-prefetch-copies)))' -verify-diagnostics | FileCheck %s

!ring = !attn_gpu.channel<16x64xbf16, stages = 1, #attn_gpu.panels<rows = 16, swizzle = 128>>
!ring2 = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tensor = memref<?x64xbf16>

gpu.module @kernels {
  // Two slots: two tiles of K and one of V are on their way before the loops,
  // and both loops go on with what the loop behind them needs.
  // CHECK-LABEL: gpu.func @two_loops_two_slots
  // CHECK-SAME: %[[K:[^:]*]]: memref<?x64xbf16>, %[[V:[^:]*]]: memref<?x64xbf16>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index
  // CHECK: arith.cmpi slt, %{{.*}}, %[[N]]
  // CHECK: cooperative_load %[[K]]
  // CHECK: cooperative_load %[[V]]
  // CHECK: cooperative_load %[[K]]
  // CHECK-NOT: cooperative_load
  // CHECK: scf.for %[[I:[^ ]*]] =
  // CHECK: attn_gpu.receive
  // CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1
  // CHECK: arith.cmpi slt, %[[NEXT]], %[[N]]
  // CHECK: cooperative_load %[[V]]
  // CHECK: attn_gpu.receive
  // CHECK: %[[AFTER:.*]] = arith.addi %[[I]], %c2
  // CHECK: arith.cmpi slt, %[[AFTER]], %[[N]]
  // CHECK: cooperative_load %[[K]]
  // CHECK: scf.for
  // CHECK: cooperative_load %[[V]]
  // CHECK: cooperative_load %[[K]]
  gpu.func @two_loops_two_slots(%K: !tensor, %V: !tensor, %m: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %k = attn_gpu.channel consumers(1) : !ring2
    %v = attn_gpu.channel consumers(1) : !ring2
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %i = %c0 to %m step %c1 {
        %row = arith.muli %i, %c16 : index
        attn_gpu.cooperative_load %K[%row, %c0] rows(0) to %k[%i] : !tensor to !ring2
        %0 = attn_gpu.receive %k[%i] : !ring2
        attn_gpu.release %k[%i] : !ring2
        attn_gpu.cooperative_load %V[%row, %c0] rows(0) to %v[%i] : !tensor to !ring2
        %1 = attn_gpu.receive %v[%i] : !ring2
        attn_gpu.release %v[%i] : !ring2
      }
      scf.for %i = %m to %n step %c1 {
        %row = arith.muli %i, %c16 : index
        attn_gpu.cooperative_load %K[%row, %c0] rows(0) to %k[%i] : !tensor to !ring2
        %0 = attn_gpu.receive %k[%i] : !ring2
        attn_gpu.release %k[%i] : !ring2
        attn_gpu.cooperative_load %V[%row, %c0] rows(0) to %v[%i] : !tensor to !ring2
        %1 = attn_gpu.receive %v[%i] : !ring2
        attn_gpu.release %v[%i] : !ring2
      }
    }
    gpu.return
  }

  // What waits in front of the loops waits behind the first loads.
  // CHECK-LABEL: gpu.func @query
  // CHECK: scf.for
  // CHECK-NEXT: attn_gpu.cooperative_load
  // CHECK-NOT: attn_gpu.receive
  // CHECK: attn_gpu.cooperative_load
  // CHECK: attn_gpu.receive
  // CHECK-NEXT: attn_gpu.subtile
  // CHECK-NEXT: scf.for
  gpu.func @query(%Q: !tensor, %K: !tensor, %V: !tensor, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %q = attn_gpu.channel consumers(1) : !ring
    %k = attn_gpu.channel consumers(1) : !ring
    %v = attn_gpu.channel consumers(1) : !ring
    scf.for %tile = %c0 to %n step %c1 {
      attn_gpu.cooperative_load %Q[%tile, %c0] rows(0) to %q[%tile] : !tensor to !ring
      %t = attn_gpu.receive %q[%tile] : !ring
      %mine = attn_gpu.subtile %t[%c0] : !attn_gpu.tile<16x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>> to !attn_gpu.tile<8x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
      scf.for %i = %c0 to %n step %c1 {
        attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring
        %0 = attn_gpu.receive %k[%i] : !ring
        attn_gpu.release %k[%i] : !ring
        attn_gpu.cooperative_load %V[%i, %c0] rows(0) to %v[%i] : !tensor to !ring
        %1 = attn_gpu.receive %v[%i] : !ring
        attn_gpu.release %v[%i] : !ring
        %2 = attn_gpu.subtile %mine[%c0] : !attn_gpu.tile<8x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>> to !attn_gpu.tile<8x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
      }
      attn_gpu.release %q[%tile] : !ring
    }
    gpu.return
  }

  // A load behind its own tile's receive would never arrive.
  // CHECK-LABEL: gpu.func @negative_one_ring_of_one_slot
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-NEXT: attn_gpu.cooperative_load
  // expected-remark @below {{not prefetched: expected one receive and one release behind each load}}
  gpu.func @negative_one_ring_of_one_slot(%K: !tensor, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !ring
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring
        %0 = attn_gpu.receive %k[%i] : !ring
        attn_gpu.release %k[%i] : !ring
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_other_coordinates
  // CHECK: scf.for
  // CHECK-NEXT: scf.for
  // expected-remark @below {{not prefetched: expected the loops to load the same tiles of each visit}}
  gpu.func @negative_other_coordinates(%K: !tensor, %m: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !ring2
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %i = %c0 to %m step %c1 {
        attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring2
        %0 = attn_gpu.receive %k[%i] : !ring2
        attn_gpu.release %k[%i] : !ring2
      }
      scf.for %i = %m to %n step %c1 {
        attn_gpu.cooperative_load %K[%m, %c0] rows(0) to %k[%i] : !tensor to !ring2
        %0 = attn_gpu.receive %k[%i] : !ring2
        attn_gpu.release %k[%i] : !ring2
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_gap
  // CHECK: scf.for
  // CHECK-NEXT: scf.for
  // expected-remark @below {{not prefetched: expected loops that count trips one after the other}}
  gpu.func @negative_gap(%K: !tensor, %m: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !ring2
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %i = %m to %n step %c1 {
        attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring2
        %0 = attn_gpu.receive %k[%i] : !ring2
        attn_gpu.release %k[%i] : !ring2
      }
    }
    gpu.return
  }

  // The load in front of the loop is not that of visit 0.
  // CHECK-LABEL: gpu.func @negative_other_first_tile
  // CHECK: scf.if
  // CHECK: attn_gpu.cooperative_load %{{.*}}[%c5
  // CHECK: scf.for
  // CHECK-NEXT: attn_gpu.cooperative_load
  // expected-remark @below {{not prefetched: expected loads of the visits before the first trip and after the last}}
  gpu.func @negative_other_first_tile(%K: !tensor, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %k = attn_gpu.channel consumers(1) : !ring2
    scf.for %tile = %c0 to %n step %c1 {
      %any = arith.cmpi sgt, %n, %c0 : index
      scf.if %any {
        attn_gpu.cooperative_load %K[%c5, %c0] rows(0) to %k[%c0] : !tensor to !ring2
        %0 = attn_gpu.receive %k[%c0] : !ring2
        attn_gpu.release %k[%c0] : !ring2
        scf.for %i = %c1 to %n step %c1 {
          attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring2
          %1 = attn_gpu.receive %k[%i] : !ring2
          attn_gpu.release %k[%i] : !ring2
        }
      }
    }
    gpu.return
  }

  // What is loaded in front of the branch might never be received.
  // CHECK-LABEL: gpu.func @negative_other_branch
  // CHECK: scf.for
  // CHECK-NEXT: scf.if
  // expected-remark @below {{not prefetched: expected the loops to run whenever there is a visit}}
  gpu.func @negative_other_branch(%K: !tensor, %taken: i1, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !ring2
    scf.for %tile = %c0 to %n step %c1 {
      scf.if %taken {
        scf.for %i = %c0 to %n step %c1 {
          attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring2
          %0 = attn_gpu.receive %k[%i] : !ring2
          attn_gpu.release %k[%i] : !ring2
        }
      }
    }
    gpu.return
  }

  // The row is not yet in memory in front of the branch.
  // CHECK-LABEL: gpu.func @negative_coordinate_from_memory
  // CHECK: scf.if
  // CHECK-NEXT: memref.store
  // expected-remark @below {{not prefetched: expected the loops to load the same tiles of each visit}}
  gpu.func @negative_coordinate_from_memory(%K: !tensor, %m: memref<index>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !ring2
    scf.for %tile = %c0 to %n step %c1 {
      %any = arith.cmpi sgt, %n, %c0 : index
      scf.if %any {
        memref.store %tile, %m[] : memref<index>
        %row = memref.load %m[] : memref<index>
        scf.for %i = %c0 to %n step %c1 {
          attn_gpu.cooperative_load %K[%row, %c0] rows(0) to %k[%i] : !tensor to !ring2
          %0 = attn_gpu.receive %k[%i] : !ring2
          attn_gpu.release %k[%i] : !ring2
        }
      }
    }
    gpu.return
  }
}
