// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-prefetch-copies,cse)))' | FileCheck %s

!ring = !attn_gpu.channel<16x64xbf16, stages = 1, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tensor = memref<?x64xbf16>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @prefetch
  // CHECK-SAME: %[[KRING:[^ ]*]]: !attn_gpu.channel<{{.*}}>, %[[VRING:[^ ]*]]: !attn_gpu.channel<
  // The first tile of K is on its way before the loop.
  // CHECK: scf.if
  // CHECK-NEXT: attn_gpu.cooperative_load
  // CHECK: attn.tile_loop (%[[I:[^ ]*]], %[[KEY:[^ ]*]])
  // The wait for K also waits for all who read the tile of V before.
  // CHECK-NEXT: attn_gpu.receive %[[KRING]][%[[I]]]
  // CHECK-NEXT: attn_gpu.cooperative_load {{.*}}[%[[KEY]], {{.*}} to %[[VRING]][%[[I]]]
  // CHECK: attn_gpu.release %[[KRING]]
  // CHECK-NEXT: attn_gpu.receive %[[VRING]][%[[I]]]
  // CHECK: %[[NEXT:[^ ]*]] = arith.addi %[[I]], %c1
  // CHECK: scf.if
  // CHECK: %[[KEYS:[^ ]*]] = arith.muli %[[NEXT]], %c16
  // CHECK: attn_gpu.cooperative_load {{.*}}[%[[KEYS]], {{.*}} to %[[KRING]][%[[NEXT]]]
  // CHECK: attn_gpu.release %[[VRING]]
  gpu.func @prefetch(%k: !ring, %v: !ring, %K: !tensor, %V: !tensor, %n: index) kernel {
    %c0 = arith.constant 0 : index
    attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(full %n) {
      attn_gpu.cooperative_load %K[%key, %c0] rows(0) to %k[%i] : !tensor to !ring
      %0 = attn_gpu.receive %k[%i] : !ring
      attn_gpu.release %k[%i] : !ring
      attn_gpu.cooperative_load %V[%key, %c0] rows(0) to %v[%i] : !tensor to !ring
      %1 = attn_gpu.receive %v[%i] : !ring
      attn_gpu.release %v[%i] : !ring
    }
    gpu.return
  }
}
