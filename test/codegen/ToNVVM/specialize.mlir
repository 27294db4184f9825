// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @roles
  gpu.func @roles() kernel attributes {known_block_size = array<i32: 384, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
    // CHECK: %[[IS_THREAD_0:.*]] = llvm.icmp "eq" %[[THREAD]]
    // CHECK: %[[GROUP:.*]] = nvvm.shfl.sync idx
    // CHECK: %[[IS_PRODUCER:.*]] = llvm.icmp "eq" %[[GROUP]]
    // CHECK: llvm.cond_br %[[IS_PRODUCER]], ^[[PRODUCER:.*]], ^[[CONSUMERS:.*]]
    // CHECK: ^[[PRODUCER]]:
    // CHECK-NEXT: nvvm.setmaxregister decrease 24
    // CHECK-NEXT: llvm.cond_br %[[IS_THREAD_0]]
    // CHECK: nvvm.read.ptx.sreg.ctaid.x
    // CHECK: ^[[CONSUMERS]]:
    // CHECK-NEXT: nvvm.setmaxregister increase 240
    // CHECK: nvvm.read.ptx.sreg.nctaid.x
    attn_gpu.specialize producer(24) {
      %b = gpu.block_id x
    } consumers(2, 240) {
      %g = gpu.grid_dim x
    }
    gpu.return
  }
}
