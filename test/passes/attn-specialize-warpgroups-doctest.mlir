// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-specialize-warpgroups)))' | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!map = !attn_gpu.tensor_map<16x64xbf16, swizzle = 128>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @roles
  // CHECK: attn_gpu.specialize producer(24)
  // CHECK: scf.for
  // CHECK: attn_gpu.tma_load
  // CHECK: consumers(1, 240)
  // CHECK: scf.for
  // CHECK: attn_gpu.receive
  // CHECK-NEXT: attn_gpu.release
  gpu.func @roles(%map: !map, %n: index) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %channel = attn_gpu.channel consumers(1) : !channel
    scf.for %tile = %c0 to %n step %c1 {
      attn_gpu.tma_load %map[%tile, %c0] to %channel[%tile] : !map to !channel
      %t = attn_gpu.receive %channel[%tile] : !channel
      attn_gpu.release %channel[%tile] : !channel
    }
    gpu.return
  }
}
