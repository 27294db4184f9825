// RUN: attn-opt %s --attn-expand-softmax | FileCheck %s

// exp2((s - m) * c), with 0 for the reference of a row that saw nothing.
// CHECK-LABEL: func.func @weights
// CHECK-SAME: %[[S:[^ ]*]]: vector<16x8xf32>, %[[M:[^ ]*]]: vector<16xf32>, %[[C:[^ ]*]]: f32
// CHECK: %[[NOTHING:.*]] = arith.cmpf oeq, %[[M]], %{{.*}} : vector<16xf32>
// CHECK: %[[REFERENCE:.*]] = arith.select %[[NOTHING]], %{{.*}}, %[[M]]
// CHECK: %[[COLUMN:.*]] = vector.shape_cast %[[REFERENCE]]
// CHECK: %[[COLUMNS:.*]] = vector.broadcast %[[COLUMN]]
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[S]], %[[COLUMNS]] : vector<16x8xf32>
// CHECK: %[[FACTOR:.*]] = vector.broadcast %[[C]] : f32 to vector<16x8xf32>
// CHECK: %[[POWER:.*]] = arith.mulf %[[DIFFERENCE]], %[[FACTOR]]
// CHECK: %[[P:.*]] = math.exp2 %[[POWER]]
// CHECK: return %[[P]]
func.func @weights(%s: vector<16x8xf32>, %m: vector<16xf32>, %c: f32) -> vector<16x8xf32> {
  %p = attn.softmax_weights %s relative(%m) factor(%c) : vector<16x8xf32>, vector<16xf32>
  return %p : vector<16x8xf32>
}
