// RUN: attn-opt %s -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-rescale-lazily)))' | FileCheck %s

#always = #attn.schedule<style = fa3, target = "sm_90a", rows = 16, keys = 8,
                         workers = 1, query_stages = 1, stages = 2, registers = [24, 240],
                         overlap = true, rescale_threshold = 0,
                         persistent = false, descending = false>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 16, keys = 8,
                           workers = 1, query_stages = 1, stages = 2, registers = [24, 240],
                           overlap = true, rescale_threshold = 8,
                           persistent = false, descending = false>

gpu.module @kernels {
  // Nobody asked for it.
  // CHECK-LABEL: gpu.func @negative_threshold_0
  // CHECK-NOT: attn_gpu.warp_any
  gpu.func @negative_threshold_0(%s: vector<16x8xf32>, %m0: vector<16xf32>, %c: f32, %n: index) kernel attributes {attn.schedule = #always} {
    attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n) carries(maximum %m = %m0 : vector<16xf32>, accumulator %acc = %s : vector<16x8xf32>) {
      %max = vector.multi_reduction <maxnumf>, %s, %m [1] : vector<16x8xf32> to vector<16xf32>
      %scaled = attn.rescale %acc from(%m) to(%max) factor(%c) : vector<16x8xf32> by vector<16xf32>
      attn.yield %max, %scaled : vector<16xf32>, vector<16x8xf32>
    }
    gpu.return
  }

  // What a schedule asks for and does not get is said.
  // CHECK-LABEL: gpu.func @negative_other_forms
  // CHECK-NOT: attn_gpu.warp_any
  gpu.func @negative_other_forms(%s: vector<16x8xf32>, %m0: vector<16xf32>, %c: f32, %n: index) kernel attributes {attn.schedule = #schedule} {
    // A reference that the loop does not carry.
    // expected-remark @below {{not rescaled lazily: expected a maximum and one attn.rescale}}
    attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n)
        carries(accumulator %acc = %s : vector<16x8xf32>) {
      %p = attn.softmax_weights %s relative(%m0) factor(%c) : vector<16x8xf32>, vector<16xf32>
      %next = arith.addf %acc, %p : vector<16x8xf32>
      attn.yield %next : vector<16x8xf32>
    }
    // Sums that go to another reference than the one yielded.
    // expected-remark @below {{not rescaled lazily: expected sums that go from the maximum before to the one after}}
    attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n)
        carries(maximum %m = %m0 : vector<16xf32>, accumulator %acc = %s : vector<16x8xf32>) {
      %scaled = attn.rescale %acc from(%m) to(%m0) factor(%c) : vector<16x8xf32> by vector<16xf32>
      attn.yield %m, %scaled : vector<16xf32>, vector<16x8xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_late_factor
  // CHECK-NOT: attn_gpu.warp_any
  gpu.func @negative_late_factor(%s: vector<16x8xf32>, %m0: vector<16xf32>, %f: memref<f32>, %n: index) kernel attributes {attn.schedule = #schedule} {
    // expected-remark @below {{not rescaled lazily: expected a factor that the loop does not change}}
    attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n) carries(accumulator %acc = %s : vector<16x8xf32>, maximum %m = %m0 : vector<16xf32>) {
      %max = vector.multi_reduction <maxnumf>, %s, %m [1] : vector<16x8xf32> to vector<16xf32>
      %c = memref.load %f[] : memref<f32>
      %scaled = attn.rescale %acc from(%m) to(%max) factor(%c) : vector<16x8xf32> by vector<16xf32>
      attn.yield %scaled, %max : vector<16x8xf32>, vector<16xf32>
    }
    gpu.return
  }
}
