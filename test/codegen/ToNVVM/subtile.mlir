// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#l = #attn_gpu.panels<rows = 128, swizzle = 64>
!ring = !attn_gpu.channel<128x32xbf16, stages = 1, #l>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @rows
  // CHECK-SAME: %[[ROW:.*]]: i32)
  gpu.func @rows(%row: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %ring = attn_gpu.channel consumers(1) : !ring
    %c0 = arith.constant 0 : index
    %t = attn_gpu.receive %ring[%c0] : !ring
    // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(64 : i32)
    // CHECK: %[[OFFSET:.*]] = llvm.mul %[[ROW]], %[[BYTES]]
    // CHECK: llvm.add %{{.*}}, %[[OFFSET]]
    %mine = attn_gpu.subtile %t[%row] : !attn_gpu.tile<128x32xbf16, #l> to !attn_gpu.tile<64x32xbf16, #l>
    gpu.return
  }
}
