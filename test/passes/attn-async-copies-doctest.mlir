// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-async-copies)))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @copy
  // CHECK-SAME: %[[MAP:[^ ]*]]: !attn_gpu.tensor_map<8x64xbf16, swizzle = 128> {attn_gpu.map_of = 0 : i64}
  // CHECK: %[[RING:[^ ]*]] = attn_gpu.channel consumers(2) : <8x16xbf16, stages = 2, <rows = 8, swizzle = 128>>
  // CHECK: attn_gpu.tma_load %[[MAP]][%[[ROW:[^,]*]], %{{.*}}] to %[[RING]][%[[SLOT:[^ ]*]]]
  // CHECK: %[[TILE:[^ ]*]] = attn_gpu.receive %[[RING]][%[[SLOT]]]
  // CHECK: %[[VALUE:[^ ]*]] = attn_gpu.tile_value %[[TILE]]
  // CHECK: vector.contract {{.*}}, %[[VALUE]],
  // CHECK-NEXT: attn_gpu.release %[[RING]][%[[SLOT]]]
  gpu.func @copy(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}
