// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-async-matmuls)))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#t = affine_map<(m, n, k) -> (n, k)>
#panels = #attn_gpu.panels<rows = 16, swizzle = 128>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>


gpu.module @kernels {
  // The inner extent may run along the rows of the tile.
  // CHECK-LABEL: gpu.func @transposed
  // CHECK: attn_gpu.mma_async %{{.*}}, %{{[^ ]*}} accumulator({{.*}}) transpose_b
  gpu.func @transposed(%p: vector<64x16xbf16>, %v: !attn_gpu.tile<32x16xbf16, #attn_gpu.panels<rows = 32, swizzle = 128>>, %acc: vector<64x32xf32>, %o: memref<64x32xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %values = attn_gpu.tile_value %v : !attn_gpu.tile<32x16xbf16, #attn_gpu.panels<rows = 32, swizzle = 128>> -> vector<32x16xbf16>
    %sum = vector.contract {indexing_maps = [#a, #t, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %values, %acc : vector<64x16xbf16>, vector<32x16xbf16> into vector<64x32xf32>
    vector.transfer_write %sum, %o[%c0, %c0] : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }

  // An accumulator of zeros is none: the product overwrites.
  // CHECK-LABEL: gpu.func @from_nothing
  // CHECK: attn_gpu.mma_async
  // CHECK-NOT: accumulator
  // CHECK: attn_gpu.mma_wait
  gpu.func @from_nothing(%p: vector<64x16xbf16>, %v: !attn_gpu.tile<16x32xbf16, #panels>, %acc: vector<64x32xf32>, %o: memref<64x32xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %c0 = arith.constant 0 : index
    %values = attn_gpu.tile_value %v : !attn_gpu.tile<16x32xbf16, #panels> -> vector<16x32xbf16>
    %sum = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %values, %zero : vector<64x16xbf16>, vector<16x32xbf16> into vector<64x32xf32>
    vector.transfer_write %sum, %o[%c0, %c0] : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @both_in_shared_memory
  // CHECK-SAME: %[[Q:[^ ]*]]: !attn_gpu.tile<64x16xbf16
  // CHECK-NOT: attn_gpu.tile_value
  // CHECK: attn_gpu.mma_async %[[Q]],
  gpu.func @both_in_shared_memory(%q: !attn_gpu.tile<64x16xbf16, #attn_gpu.panels<rows = 64, swizzle = 128>>, %v: !attn_gpu.tile<16x32xbf16, #panels>, %acc: vector<64x32xf32>, %o: memref<64x32xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %p = attn_gpu.tile_value %q : !attn_gpu.tile<64x16xbf16, #attn_gpu.panels<rows = 64, swizzle = 128>> -> vector<64x16xbf16>
    %values = attn_gpu.tile_value %v : !attn_gpu.tile<16x32xbf16, #panels> -> vector<16x32xbf16>
    %sum = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %values, %acc : vector<64x16xbf16>, vector<16x32xbf16> into vector<64x32xf32>
    vector.transfer_write %sum, %o[%c0, %c0] : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_no_schedule
  // CHECK-NOT: attn_gpu.mma_async
  // CHECK: vector.contract
  gpu.func @negative_no_schedule(%p: vector<64x16xbf16>, %v: !attn_gpu.tile<16x32xbf16, #panels>, %acc: vector<64x32xf32>, %o: memref<64x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %values = attn_gpu.tile_value %v : !attn_gpu.tile<16x32xbf16, #panels> -> vector<16x32xbf16>
    %sum = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %values, %acc : vector<64x16xbf16>, vector<16x32xbf16> into vector<64x32xf32>
    vector.transfer_write %sum, %o[%c0, %c0] : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }
}
