// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @math
  // CHECK-SAME: %[[X:.*]]: f32)
  gpu.func @math(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[X]])
    %exp2 = math.exp2 %x : f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%[[X]])
    %log2 = math.log2 %x : f32
    // CHECK: llvm.intr.fma(%[[X]], %[[X]], %[[X]])
    %fma = math.fma %x, %x, %x : f32
    // CHECK: llvm.intr.roundeven(%[[X]])
    %round = math.roundeven %x : f32
    // CHECK: %[[SCALED:.*]] = llvm.fmul %[[X]]
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[SCALED]])
    %exp = math.exp %x : f32
    gpu.return
  }
}
