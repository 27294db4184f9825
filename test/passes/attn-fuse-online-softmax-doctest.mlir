// RUN: attn-opt %s --attn-fuse-online-softmax | FileCheck %s

// CHECK-LABEL: @fuse
// CHECK: %[[R:[^ ]*]]:2 = scf.for {{.*}} iter_args(%[[OLD:[^ ]*]] = %{{.*}}, %[[SUM:[^ ]*]] = %{{.*}})
// CHECK:   %[[MAX:[^ ]*]] = vector.multi_reduction <maxnumf>, %[[SCORES:[^ ]*]], %[[OLD]]
// CHECK:   %[[GROWTH:[^ ]*]] = arith.subf %[[OLD]], %[[MAX]]
// CHECK:   %[[POWER:[^ ]*]] = arith.mulf %[[GROWTH]]
// CHECK:   %[[RESCALE:[^ ]*]] = math.exp2 %[[POWER]]
// CHECK:   arith.mulf %[[SUM]], %[[RESCALE]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @fuse(%s: memref<16x?xf32>, %n: index, %c: f32)
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
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
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
