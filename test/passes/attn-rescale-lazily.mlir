// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-rescale-lazily)))' | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 16, keys = 8,
                           workers = 1, query_stages = 1, stages = 2, registers = [24, 240],
                           overlap = true, rescale_threshold = 8,
                           persistent = false, descending = false>


gpu.module @kernels {
  // CHECK-LABEL: gpu.func @threshold
  // CHECK: vector.multi_reduction <maxnumf>
  // CHECK: %[[GROWTH:[^ ]*]] = arith.subf
  // CHECK: %[[BITS:[^ ]*]] = arith.mulf %[[GROWTH]]
  // CHECK: %[[LIMIT:[^ ]*]] = arith.constant dense<8.000000e+00>
  // CHECK: arith.cmpf ogt, %[[BITS]], %[[LIMIT]]
  gpu.func @threshold(%s: vector<16x8xf32>, %f: f32, %n: index, %o: memref<16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %none = arith.constant dense<0xFF800000> : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none, %l = %zero) -> (vector<16xf32>, vector<16xf32>) {
      %max = vector.multi_reduction <maxnumf>, %s, %m [1] : vector<16x8xf32> to vector<16xf32>
      %difference = arith.subf %m, %max : vector<16xf32>
      %c = vector.broadcast %f : f32 to vector<16xf32>
      %power = arith.mulf %difference, %c : vector<16xf32>
      %scale = math.exp2 %power : vector<16xf32>
      %scaled = arith.mulf %l, %scale : vector<16xf32>
      %next = arith.addf %scaled, %max : vector<16xf32>
      scf.yield %max, %next : vector<16xf32>, vector<16xf32>
    }
    vector.transfer_write %r#1, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // All that follows uses the maximum that the warp keeps.
  // CHECK-LABEL: gpu.func @kept_maximum_is_used
  // CHECK: attn_gpu.warp_any
  // CHECK: %[[KEPT:[^ ]*]] = arith.select
  // CHECK: } else {
  // CHECK: scf.yield
  // CHECK: arith.addf %{{[^ ]*}}, %[[KEPT]]
  // CHECK: scf.yield %[[KEPT]]
  gpu.func @kept_maximum_is_used(%s: vector<16x8xf32>, %f: f32, %n: index, %o: memref<16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %none = arith.constant dense<0xFF800000> : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none, %l = %zero) -> (vector<16xf32>, vector<16xf32>) {
      %max = vector.multi_reduction <maxnumf>, %s, %m [1] : vector<16x8xf32> to vector<16xf32>
      %difference = arith.subf %m, %max : vector<16xf32>
      %c = vector.broadcast %f : f32 to vector<16xf32>
      %power = arith.mulf %difference, %c : vector<16xf32>
      %scale = math.exp2 %power : vector<16xf32>
      %scaled = arith.mulf %l, %scale : vector<16xf32>
      %next = arith.addf %scaled, %max : vector<16xf32>
      scf.yield %max, %next : vector<16xf32>, vector<16xf32>
    }
    vector.transfer_write %r#1, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }


  // The scale of an accumulator is stretched under the condition only.
  // CHECK-LABEL: gpu.func @broadcast_scale
  // CHECK: scf.if
  // CHECK: math.exp2
  // CHECK: vector.shape_cast
  // CHECK: vector.broadcast
  // CHECK: arith.mulf
  // CHECK: } else {
  // CHECK-NOT: vector.broadcast
  gpu.func @broadcast_scale(%s: vector<16x8xf32>, %f: f32, %n: index, %o: memref<16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %none = arith.constant dense<0xFF800000> : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16x4xf32>
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none, %l = %zero) -> (vector<16xf32>, vector<16x4xf32>) {
      %max = vector.multi_reduction <maxnumf>, %s, %m [1] : vector<16x8xf32> to vector<16xf32>
      %difference = arith.subf %m, %max : vector<16xf32>
      %c = vector.broadcast %f : f32 to vector<16xf32>
      %power = arith.mulf %difference, %c : vector<16xf32>
      %scale = math.exp2 %power : vector<16xf32>
      %column = vector.shape_cast %scale : vector<16xf32> to vector<16x1xf32>
      %stretched = vector.broadcast %column : vector<16x1xf32> to vector<16x4xf32>
      %next = arith.mulf %l, %stretched : vector<16x4xf32>
      scf.yield %max, %next : vector<16xf32>, vector<16x4xf32>
    }
    vector.transfer_write %r#0, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }
}
