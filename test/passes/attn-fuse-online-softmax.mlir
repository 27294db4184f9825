// RUN: attn-opt %s --attn-fuse-online-softmax | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// A maximum of -inf may be replaced by 0 in the reference.
// CHECK-LABEL: @row_that_sees_nothing
// CHECK: %[[MAX:[^ ]*]] = vector.multi_reduction <maxnumf>
// CHECK: %[[EMPTY:[^ ]*]] = arith.cmpf oeq, %[[MAX]]
// CHECK: arith.select %[[EMPTY]], %{{.*}}, %[[MAX]]
// CHECK-NOT: scf.for
func.func @row_that_sees_nothing(%s: memref<16x?xf32>, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %empty = arith.cmpf oeq, %max, %none : vector<16xf32>
  %reference = arith.select %empty, %zero, %max : vector<16xi1>, vector<16xf32>
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %reference : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// The product with the values is rescaled too.
// CHECK-LABEL: @weighted_values
// CHECK: scf.for
// CHECK: %[[RESCALE:[^ ]*]] = math.exp2 %{{.*}} : vector<16xf32>
// CHECK: %[[COLUMN:[^ ]*]] = vector.shape_cast %[[RESCALE]]
// CHECK: %[[ROWS:[^ ]*]] = vector.broadcast %[[COLUMN]]
// CHECK: %[[SCALED:[^ ]*]] = arith.mulf %{{.*}}, %[[ROWS]]
// CHECK: vector.contract {{.*}} %{{.*}}, %{{.*}}, %[[SCALED]]
func.func @weighted_values(%s: memref<16x?xf32>, %n: index, %c: f32, %v: vector<8x4xf32>)
    -> (vector<16xf32>, vector<16x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16x4xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16x4xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %weights, %v, %l : vector<16x8xf32>, vector<8x4xf32> into vector<16x4xf32>
    scf.yield %next : vector<16x4xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16x4xf32>
}
