// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-prefetch-copies)))' | FileCheck %s

!ring = !attn_gpu.channel<16x64xbf16, stages = 1, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tensor = memref<?x64xbf16>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @prefetch
  // CHECK: scf.for
  // The first tile of K is on its way before the loop.
  // CHECK: scf.if
  // CHECK-NEXT: attn_gpu.cooperative_load
  // CHECK: scf.for %[[VISIT:[^ ]*]] =
  // The wait for K also waits for all who read the tile of V before.
  // CHECK-NEXT: attn_gpu.receive %[[KRING:.*]][%[[VISIT]]]
  // CHECK-NEXT: attn_gpu.cooperative_load {{.*}}[%[[VISIT]], {{.*}} to %[[VRING:.*]][%[[VISIT]]]
  // CHECK: attn_gpu.release %[[KRING]]
  // CHECK-NEXT: attn_gpu.receive %[[VRING]][%[[VISIT]]]
  // CHECK: %[[NEXT:[^ ]*]] = arith.addi %[[VISIT]], %c1
  // CHECK: scf.if
  // CHECK-NEXT: attn_gpu.cooperative_load {{.*}}[%[[NEXT]], {{.*}} to %[[KRING]][%[[NEXT]]]
  // CHECK: attn_gpu.release %[[VRING]]
  gpu.func @prefetch(%K: !tensor, %V: !tensor, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !ring
    %v = attn_gpu.channel consumers(1) : !ring
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        attn_gpu.cooperative_load %K[%i, %c0] rows(0) to %k[%i] : !tensor to !ring
        %0 = attn_gpu.receive %k[%i] : !ring
        attn_gpu.release %k[%i] : !ring
        attn_gpu.cooperative_load %V[%i, %c0] rows(0) to %v[%i] : !tensor to !ring
        %1 = attn_gpu.receive %v[%i] : !ring
        attn_gpu.release %v[%i] : !ring
      }
    }
    gpu.return
  }
}
