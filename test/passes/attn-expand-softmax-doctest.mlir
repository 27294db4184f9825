// RUN: attn-opt %s --attn-expand-softmax | FileCheck %s

// exp2(s * c - m * c), with 0 for the reference of a row that saw nothing.
// CHECK-LABEL: func.func @weights
// CHECK-SAME: %[[S:[^ ]*]]: vector<16x8xf32>, %[[M:[^ ]*]]: vector<16xf32>, %[[C:[^ ]*]]: f32
// CHECK: %[[NOTHING:.*]] = arith.cmpf oeq, %[[M]], %{{.*}} : vector<16xf32>
// CHECK: %[[REFERENCE:.*]] = arith.select %[[NOTHING]], %{{.*}}, %[[M]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[REFERENCE]]
// CHECK: %[[SHIFT:.*]] = arith.negf %[[SCALED]]
// CHECK: %[[FACTOR:.*]] = vector.broadcast %[[C]] : f32 to vector<16x8xf32>
// CHECK: %[[POWER:.*]] = math.fma %[[S]], %[[FACTOR]], %{{.*}} : vector<16x8xf32>
// CHECK: %[[P:.*]] = math.exp2 %[[POWER]]
// CHECK: return %[[P]]
func.func @weights(%s: vector<16x8xf32>, %m: vector<16xf32>, %c: f32) -> vector<16x8xf32> {
  %p = attn.softmax_weights %s relative(%m) factor(%c) : vector<16x8xf32>, vector<16xf32>
  return %p : vector<16x8xf32>
}
