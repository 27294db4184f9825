// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-rescale-lazily)))' | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 16, keys = 8,
                           workers = 1, query_stages = 1, stages = 2, registers = [24, 240],
                           overlap = true, rescale_threshold = 8,
                           persistent = false, descending = false>

gpu.module @kernels {
  // The warp votes on the growth in log2 units, and on whether a maximum is large;
  // all that follows uses the maximum that it keeps, and knows the answer.
  // CHECK-LABEL: gpu.func @vote
  // CHECK-SAME: %[[C:[^ ]*]]: f32
  // CHECK: carries(maximum %[[OLD:[^ ]*]] =
  // CHECK: %[[NEW:[^ ]*]] = vector.multi_reduction <maxnumf>
  // CHECK: %[[GROWTH:[^ ]*]] = arith.subf %[[NEW]], %[[OLD]]
  // CHECK: %[[FACTOR:[^ ]*]] = vector.broadcast %[[C]]
  // CHECK: %[[BITS:[^ ]*]] = arith.mulf %[[GROWTH]], %[[FACTOR]]
  // CHECK: %[[LIMIT:[^ ]*]] = arith.constant dense<8.000000e+00>
  // CHECK: %[[MUCH:[^ ]*]] = arith.cmpf ogt, %[[BITS]], %[[LIMIT]]
  // CHECK: %[[REFERENCE:[^ ]*]] = arith.select %{{.*}}, %{{.*}}, %[[NEW]]
  // CHECK: %[[SIZE:[^ ]*]] = math.absf %[[REFERENCE]]
  // CHECK: %[[LARGE:[^ ]*]] = arith.cmpf ogt, %[[SIZE]]
  // CHECK: %[[EITHER:[^ ]*]] = arith.ori %[[MUCH]], %[[LARGE]]
  // CHECK: %[[ANY:[^ ]*]] = attn_gpu.warp_any %[[EITHER]]
  // CHECK: %[[KEPT:[^ ]*]] = arith.select
  // CHECK: attn.softmax_weights %{{.*}} relative(%[[KEPT]]) factor(%[[C]]) large(%[[ANY]])
  // CHECK: attn.yield %[[KEPT]],
  gpu.func @vote(%s: vector<16x8xf32>, %c: f32, %m0: vector<16xf32>, %acc0: vector<16x8xf32>, %n: index) kernel
      attributes {attn.schedule = #schedule} {
    attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n)
        carries(maximum %m = %m0 : vector<16xf32>, accumulator %acc = %acc0 : vector<16x8xf32>) {
      %max = vector.multi_reduction <maxnumf>, %s, %m [1] : vector<16x8xf32> to vector<16xf32>
      %scaled = attn.rescale %acc from(%m) to(%max) factor(%c) : vector<16x8xf32> by vector<16xf32>
      %p = attn.softmax_weights %s relative(%max) factor(%c) : vector<16x8xf32>, vector<16xf32>
      %next = arith.addf %scaled, %p : vector<16x8xf32>
      attn.yield %max, %next : vector<16xf32>, vector<16x8xf32>
    }
    gpu.return
  }
}
