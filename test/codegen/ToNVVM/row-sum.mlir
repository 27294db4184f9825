// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @sum
  // CHECK-SAME: %[[X:.*]]: f32)
  gpu.func @sum(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %v = vector.broadcast %x : f32 to vector<64xf32>
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[X]], %[[ONE]]
    // CHECK: %[[PAIR:.*]] = llvm.fadd %[[X]], %[[OTHER]]
    // CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
    // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[PAIR]], %[[TWO]]
    %s = attn_gpu.row_sum %v : vector<64xf32>
    gpu.return
  }
}
