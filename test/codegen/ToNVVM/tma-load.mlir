// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#l = #attn_gpu.panels<rows = 80, swizzle = 128>
!ring = !attn_gpu.channel<80x96xbf16, stages = 2, #l>
!map = !attn_gpu.tensor_map<1x80x1x64xbf16, swizzle = 128>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @load
  // CHECK-SAME: (%[[MAP:.*]]: !llvm.ptr {{{.*}}}, %[[B:.*]]: i32, %[[S:.*]]: i32, %[[H:.*]]: i32, %[[C:.*]]: i32, %[[N:.*]]: i32)
  gpu.func @load(%map: !map, %b: index, %s: index, %h: index, %c: index, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %ring = attn_gpu.channel consumers(1) : !ring
    // CHECK: nvvm.barrier
    // One thread of the block.
    // CHECK: llvm.cond_br
    // The parity of the phase before: a fresh slot is empty.
    // CHECK: %[[PARITY:.*]] = llvm.and
    // CHECK: %[[WANTED:.*]] = llvm.xor %[[PARITY]]
    // CHECK: mbarrier.try_wait{{.*}} %{{.*}}, %[[WANTED]]
    // All bytes of both panels, though the second is half outside the tile.
    // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(20480 : i32)
    // CHECK: nvvm.mbarrier.arrive.expect_tx %[[FULL:.*]], %[[BYTES]]
    // Fastest dimension first.
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[FULL]], box[%{{.*}}, %[[H]], %[[S]], %[[B]]] {isCTAOnly = true}
    // CHECK: %[[PANEL:.*]] = llvm.mlir.constant(64 : i32)
    // CHECK: %[[COLUMN:.*]] = llvm.add %[[C]], %[[PANEL]]
    // CHECK: llvm.mlir.constant(10240 : i32)
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %[[FULL]], box[%[[COLUMN]], %[[H]], %[[S]], %[[B]]]
    // CHECK-NOT: nvvm.cp.async
    attn_gpu.tma_load %map[%b, %s, %h, %c] to %ring[%n] : !map to !ring
    gpu.return
  }
}
