// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-fuse-exponents)))' | FileCheck %s

gpu.module @kernels {
  // Only what large rows subtract is taken off in the warp's branch, and 0 off
  // the others.
  // CHECK-LABEL: gpu.func @rows_decide
  // CHECK-SAME: (%{{[^ ]*}}: vector<16x8xf32>, %[[R:[^ ]*]]: vector<16xf32>
  // CHECK: %[[LARGE:[^ ]*]] = arith.cmpf ogt
  // CHECK: scf.if
  // CHECK: %[[ZERO:[^ ]*]] = arith.constant dense<0.0{{.*}}> : vector<16xf32>
  // CHECK: %[[OFF:[^ ]*]] = arith.select %[[LARGE]], %[[R]], %[[ZERO]]
  // CHECK: %[[COLUMN:[^ ]*]] = vector.shape_cast %[[OFF]]
  // CHECK: %[[ALL:[^ ]*]] = vector.broadcast %[[COLUMN]]
  // CHECK: arith.subf %{{.*}}, %[[ALL]]
  // CHECK: arith.select %[[LARGE]], %[[ZERO]],
  gpu.func @rows_decide(%s: vector<16x8xf32>, %r: vector<16xf32>, %c: f32, %o: memref<16x8xf32>) kernel {
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

  // What is read elsewhere too stays.
  // CHECK-LABEL: gpu.func @other_use_of_the_difference
  // CHECK: %[[DIFFERENCES:[^ ]*]] = arith.subf
  // CHECK: math.fma
  // CHECK: vector.transfer_write %[[DIFFERENCES]]
  gpu.func @other_use_of_the_difference(%s: vector<16x8xf32>, %r: vector<16xf32>, %c: f32, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %column = vector.shape_cast %r : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %s, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    vector.transfer_write %weights, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    vector.transfer_write %differences, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // One per row is not worth a vote.
  // CHECK-LABEL: gpu.func @negative_one_per_row
  // CHECK-NOT: attn_gpu.warp_any
  // CHECK: arith.subf
  // CHECK-NOT: math.fma
  // CHECK: math.exp2
  gpu.func @negative_one_per_row(%s: vector<16xf32>, %r: vector<16xf32>, %c: f32, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %differences = arith.subf %s, %r : vector<16xf32>
    %factors = vector.broadcast %c : f32 to vector<16xf32>
    %power = arith.mulf %differences, %factors : vector<16xf32>
    %weights = math.exp2 %power : vector<16xf32>
    vector.transfer_write %weights, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // A reference per element has no product per row.
  // CHECK-LABEL: gpu.func @negative_no_row
  // CHECK-NOT: attn_gpu.warp_any
  // CHECK-NOT: math.fma
  // CHECK: math.exp2
  gpu.func @negative_no_row(%s: vector<16x8xf32>, %r: vector<16x8xf32>, %c: f32, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %differences = arith.subf %s, %r : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    vector.transfer_write %weights, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_reference_per_column
  // CHECK-NOT: attn_gpu.warp_any
  // CHECK-NOT: math.fma
  // CHECK: math.exp2
  gpu.func @negative_reference_per_column(%s: vector<16x8xf32>, %r: vector<8xf32>, %c: f32, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %row = vector.shape_cast %r : vector<8xf32> to vector<1x8xf32>
    %references = vector.broadcast %row : vector<1x8xf32> to vector<16x8xf32>
    %differences = arith.subf %s, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    vector.transfer_write %weights, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_factor_per_row
  // CHECK-NOT: attn_gpu.warp_any
  // CHECK-NOT: math.fma
  // CHECK: math.exp2
  gpu.func @negative_factor_per_row(%s: vector<16x8xf32>, %r: vector<16xf32>, %c: vector<16x1xf32>, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %column = vector.shape_cast %r : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %s, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : vector<16x1xf32> to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    vector.transfer_write %weights, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}
