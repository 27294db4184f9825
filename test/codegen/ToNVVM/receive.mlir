// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#l = #attn_gpu.panels<rows = 64, swizzle = 128>
!ring = !attn_gpu.channel<64x128xbf16, stages = 3, #l>
!single = !attn_gpu.channel<64x128xbf16, stages = 1, #l>

gpu.module @kernels {
  // Entry n mod 3, full barrier, parity (n div 3) & 1.
  // CHECK-LABEL: llvm.func @ring
  // CHECK-SAME: %[[N:.*]]: i32)
  gpu.func @ring(%n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: nvvm.barrier
    // CHECK: %[[TILES:.*]] = llvm.add
    // CHECK: %[[BARRIERS:.*]] = llvm.add
    %c = attn_gpu.channel consumers(1) : !ring
    // CHECK: %[[THREE:.*]] = llvm.mlir.constant(3 : i32)
    // CHECK: %[[STAGE:.*]] = llvm.urem %[[N]], %[[THREE]]
    // CHECK: %[[EIGHT:.*]] = llvm.mlir.constant(8 : i32)
    // CHECK: %[[OFFSET:.*]] = llvm.mul %[[STAGE]], %[[EIGHT]]
    // CHECK: %[[FULL:.*]] = llvm.add %[[BARRIERS]], %[[OFFSET]]
    // CHECK: %[[PHASE:.*]] = llvm.udiv %[[N]]
    // CHECK: %[[PARITY:.*]] = llvm.and %[[PHASE]]
    // CHECK: llvm.inline_asm has_side_effects "{{.*}}mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;{{.*}}", "r,r,~{memory}" %[[FULL]], %[[PARITY]]
    // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(16384 : i32)
    // CHECK: %[[TILE:.*]] = llvm.mul %{{.*}}, %[[BYTES]]
    // CHECK: llvm.add %[[TILES]], %[[TILE]]
    %t = attn_gpu.receive %c[%n] : !ring
    gpu.return
  }

  // With one stage nothing is divided.
  // CHECK-LABEL: llvm.func @single
  gpu.func @single(%n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c = attn_gpu.channel consumers(1) : !single
    // CHECK-NOT: llvm.urem
    // CHECK-NOT: llvm.udiv
    // CHECK: mbarrier.try_wait
    %t = attn_gpu.receive %c[%n] : !single
    gpu.return
  }
}
