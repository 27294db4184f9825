// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-fuse-exponents)))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @fuse
  // CHECK-SAME: (%[[S:[^ ]*]]: vector<16x8xf32>, %[[R:[^ ]*]]: vector<16xf32>
  // CHECK: %[[PRODUCT:[^ ]*]] = arith.mulf %[[R]],
  // CHECK: %[[SIZE:[^ ]*]] = math.absf %[[PRODUCT]]
  // CHECK: %[[LIMIT:[^ ]*]] = arith.constant dense<2.048000e+03>
  // CHECK: %[[LARGE:[^ ]*]] = arith.cmpf ogt, %[[SIZE]], %[[LIMIT]]
  // CHECK: %[[ANY:[^ ]*]] = attn_gpu.warp_any %[[LARGE]]
  // CHECK: %[[TAKEN:[^ ]*]]:2 = scf.if %[[ANY]]
  // CHECK:   %[[LESS:[^ ]*]] = arith.subf %[[S]],
  // CHECK:   %[[NOTHING:[^ ]*]] = arith.select %[[LARGE]], %{{.*}}, %[[PRODUCT]]
  // CHECK:   scf.yield %[[LESS]], %[[NOTHING]]
  // CHECK: } else {
  // CHECK:   scf.yield %[[S]], %[[PRODUCT]]
  // CHECK: %[[SHIFT:[^ ]*]] = arith.negf %[[TAKEN]]#1
  // CHECK: %[[POWER:[^ ]*]] = math.fma %[[TAKEN]]#0,
  // CHECK: math.exp2 %[[POWER]]
  gpu.func @fuse(%s: vector<16x8xf32>, %r: vector<16xf32>, %c: f32, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %column = vector.shape_cast %r : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %s, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    vector.transfer_write %weights, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}
