// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#l = #attn_gpu.panels<rows = 64, swizzle = 128>
!ring = !attn_gpu.channel<64x128xbf16, stages = 2, #l>

gpu.module @kernels {
  // One lane of each warp arrives at the entry's empty barrier, which comes
  // after the full ones.
  // CHECK-LABEL: llvm.func @release
  // CHECK-SAME: %[[N:.*]]: i32)
  gpu.func @release(%n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: %[[LANE:.*]] = llvm.and
    // CHECK: %[[IS_LANE_0:.*]] = llvm.icmp "eq" %[[LANE]]
    %c = attn_gpu.channel consumers(1) : !ring
    // CHECK: nvvm.barrier
    // CHECK: %[[SIXTEEN:.*]] = llvm.mlir.constant(16 : i32)
    // CHECK: %[[FIRST:.*]] = llvm.add %{{.*}}, %[[SIXTEEN]]
    // CHECK: llvm.urem %[[N]]
    // CHECK: %[[EMPTY:.*]] = llvm.add %[[FIRST]]
    // CHECK: llvm.inline_asm has_side_effects "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}" %[[EMPTY]], %[[IS_LANE_0]]
    attn_gpu.release %c[%n] : !ring
    gpu.return
  }
}
