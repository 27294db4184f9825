// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-specialize-warpgroups)))' | FileCheck %s

!map = !attn_gpu.tensor_map<16x64xbf16, swizzle = 128>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>

#no_roles = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 16, workers = 4, query_stages = 1, stages = 1, registers = [], overlap = false, rescale_threshold = 0, persistent = false, descending = false>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @negative_no_roles
  // CHECK-NOT: attn_gpu.specialize
  gpu.func @negative_no_roles(%map: !map, %n: index) kernel
      attributes {attn.schedule = #no_roles} {
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
