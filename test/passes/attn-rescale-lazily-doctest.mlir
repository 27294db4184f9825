// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-rescale-lazily)))' | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 16, keys = 8,
                           workers = 1, query_stages = 1, stages = 2, registers = [24, 240],
                           overlap = true, rescale_threshold = 8,
                           persistent = false, descending = false>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @rescale
  // CHECK: attn.tile_loop {{.*}} carries(maximum %[[OLD:[^ ]*]] = {{.*}}, accumulator %[[ACC:[^ ]*]] =
  // CHECK: %[[NEW:[^ ]*]] = vector.multi_reduction <maxnumf>
  // CHECK: %[[ANY:[^ ]*]] = attn_gpu.warp_any
  // CHECK: %[[KEPT:[^ ]*]] = arith.select %[[ANY]], %[[NEW]], %[[OLD]]
  // CHECK: scf.if %[[ANY]]
  // CHECK:   attn.rescale %[[ACC]] from(%[[OLD]]) to(%[[KEPT]])
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[ACC]]
  gpu.func @rescale(%s: vector<16x8xf32>, %m0: vector<16xf32>, %acc0: vector<16x8xf32>, %c: f32, %n: index) kernel
      attributes {attn.schedule = #schedule} {
    attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n)
        carries(maximum %m = %m0 : vector<16xf32>, accumulator %acc = %acc0 : vector<16x8xf32>) {
      %max = vector.multi_reduction <maxnumf>, %s, %m [1] : vector<16x8xf32> to vector<16xf32>
      %scaled = attn.rescale %acc from(%m) to(%max) factor(%c) : vector<16x8xf32> by vector<16xf32>
      attn.yield %max, %scaled : vector<16xf32>, vector<16x8xf32>
    }
    gpu.return
  }
}
