// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-async-matmuls)))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#panels = #attn_gpu.panels<rows = 16, swizzle = 128>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @product
  // CHECK-SAME: %[[P:[^ ]*]]: vector<64x16xbf16>, %[[V:[^ ]*]]: !attn_gpu.tile{{.*}}, %[[ACC:[^ ]*]]: vector<64x32xf32>
  // CHECK: %[[STARTED:[^ ]*]] = attn_gpu.mma_async %[[P]], %[[V]] accumulator(%[[ACC]] :
  // CHECK: %[[SUM:[^ ]*]] = attn_gpu.mma_wait %[[STARTED]] pending(0)
  // CHECK: vector.transfer_write %[[SUM]]
  gpu.func @product(%p: vector<64x16xbf16>, %v: !attn_gpu.tile<16x32xbf16, #panels>, %acc: vector<64x32xf32>, %o: memref<64x32xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %values = attn_gpu.tile_value %v : !attn_gpu.tile<16x32xbf16, #panels> -> vector<16x32xbf16>
    %sum = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %values, %acc : vector<64x16xbf16>, vector<16x32xbf16> into vector<64x32xf32>
    vector.transfer_write %sum, %o[%c0, %c0] : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }
}
