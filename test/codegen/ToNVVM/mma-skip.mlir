// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // Warpgroups: whatever is in flight is waited for, and the registers stay.
  // CHECK-LABEL: llvm.func @warpgroup
  // CHECK-SAME: %[[X:.*]]: f32)
  // CHECK: nvvm.wgmma.wait.group.sync.aligned 0
  // CHECK-NEXT: llvm.inline_asm {{.*}}wait_group.sync.aligned 1;{{.*}} %[[X]], %[[X]], %[[X]], %[[X]]
  gpu.func @warpgroup(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %acc = vector.broadcast %x : f32 to vector<64x8xf32>
    %same = attn_gpu.mma_skip %acc : vector<64x8xf32> -> !attn_gpu.inflight<64x8xf32>
    %r = attn_gpu.mma_wait %same pending(1) : !attn_gpu.inflight<64x8xf32>
    gpu.return
  }

  // Warps: there is nothing to wait for.
  // CHECK-LABEL: llvm.func @warp
  // CHECK-SAME: %[[X:.*]]: f32)
  // CHECK-NOT: wait_group
  // CHECK: llvm.fneg %[[X]]
  gpu.func @warp(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %acc = vector.broadcast %x : f32 to vector<16x8xf32>
    %same = attn_gpu.mma_skip %acc : vector<16x8xf32> -> !attn_gpu.inflight<16x8xf32>
    %r = attn_gpu.mma_wait %same pending(1) : !attn_gpu.inflight<16x8xf32>
    %n = arith.negf %r : vector<16x8xf32>
    gpu.return
  }
}
