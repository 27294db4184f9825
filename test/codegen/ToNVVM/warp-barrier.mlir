// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @barrier
  gpu.func @barrier() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: nvvm.shfl.sync
    // CHECK-NEXT: %[[ALL:.*]] = llvm.mlir.constant(-1 : i32)
    // CHECK-NEXT: nvvm.bar.warp.sync %[[ALL]] : i32
    // CHECK-NEXT: llvm.return
    attn_gpu.warp_barrier
    gpu.return
  }
}
