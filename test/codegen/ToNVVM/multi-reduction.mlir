// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // A tree over the thread's 4 columns of a row, then the row's 4 threads, then
  // the accumulator.
  // CHECK-LABEL: llvm.func @maximum
  // CHECK-SAME: %[[S:.*]]: f32, %[[A:.*]]: f32)
  gpu.func @maximum(%s: f32, %a: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %v = vector.broadcast %s : f32 to vector<64x16xf32>
    %acc = vector.broadcast %a : f32 to vector<64xf32>
    // CHECK: %[[X:.*]] = llvm.intr.maxnum(%[[S]], %[[S]])
    // CHECK-NEXT: %[[Y:.*]] = llvm.intr.maxnum(%[[S]], %[[S]])
    // CHECK-NEXT: %[[Z:.*]] = llvm.intr.maxnum(%[[X]], %[[Y]])
    // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[Z]]
    // CHECK: nvvm.shfl.sync bfly
    // CHECK: %[[ROW:.*]] = llvm.intr.maxnum
    // CHECK-NEXT: llvm.intr.maxnum(%[[A]], %[[ROW]])
    %m = vector.multi_reduction <maxnumf>, %v, %acc [1] : vector<64x16xf32> to vector<64xf32>
    gpu.return
  }
}
