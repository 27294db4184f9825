// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#unrolled = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 16,
                           workers = 4, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 0, persistent = false,
                           descending = false, unroll = true>

// The assembler is told for all kernels of a module at once.
// CHECK: gpu.module @as_they_are
// CHECK-SAME: nounroll
gpu.module @as_they_are {
  gpu.func @f() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    gpu.return
  }
}

// CHECK: gpu.module @unrolled
// CHECK-NOT: nounroll
gpu.module @unrolled {
  gpu.func @f() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64, attn.schedule = #unrolled} {
    gpu.return
  }
}
