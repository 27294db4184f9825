// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // A tree over the thread's 4 columns of each of its two rows, and no word to
  // the row's other threads.
  // CHECK-LABEL: llvm.func @partial_sum
  // CHECK-SAME: %[[S:.*]]: f32)
  gpu.func @partial_sum(%s: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %v = vector.broadcast %s : f32 to vector<64x16xf32>
    // CHECK: %[[X:.*]] = llvm.fadd %[[S]], %[[S]]
    // CHECK-NEXT: %[[Y:.*]] = llvm.fadd %[[S]], %[[S]]
    // CHECK-NEXT: llvm.fadd %[[X]], %[[Y]]
    // CHECK-COUNT-3: llvm.fadd
    // CHECK-NOT: llvm.fadd
    // CHECK-NOT: nvvm.shfl.sync bfly
    // CHECK: llvm.return
    %m = attn_gpu.partial_sum %v : vector<64x16xf32> -> vector<64xf32>
    gpu.return
  }
}
