// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // Consumers count from warpgroup 1.
  // CHECK-LABEL: llvm.func @consumer
  gpu.func @consumer() kernel attributes {known_block_size = array<i32: 384, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    attn_gpu.specialize producer(24) {
    } consumers(2, 240) {
      // CHECK: %[[GROUP:.*]] = nvvm.shfl.sync idx
      // CHECK: setmaxregister increase
      // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
      // CHECK: llvm.sub %[[GROUP]], %[[ONE]]
      %w = attn_gpu.worker_id
    }
    gpu.return
  }

  // Workers of 2 warps.
  // CHECK-LABEL: llvm.func @plain
  gpu.func @plain() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 2 : i64} {
    // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
    // CHECK: %[[THREADS:.*]] = llvm.mlir.constant(64 : i32)
    // CHECK: %[[WORKER:.*]] = llvm.udiv %[[THREAD]], %[[THREADS]]
    // CHECK: nvvm.shfl.sync idx %{{.*}}, %[[WORKER]]
    %w = attn_gpu.worker_id
    gpu.return
  }
}
