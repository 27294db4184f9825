// RUN: attn-opt %s --attn-expand-softmax --cse | FileCheck %s --implicit-check-not=attn.

// One scale for all sums that are rescaled.
// CHECK-LABEL: func.func @rescale
// CHECK-SAME: %[[L:[^ ]*]]: vector<16xf32>, %[[O:[^ ]*]]: vector<16x8xf32>, %[[FROM:[^ ]*]]: vector<16xf32>, %[[TO:[^ ]*]]: vector<16xf32>
// CHECK: %[[NOTHING:.*]] = arith.cmpf oeq, %[[TO]]
// CHECK: %[[REFERENCE:.*]] = arith.select %[[NOTHING]], %{{.*}}, %[[TO]]
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[FROM]], %[[REFERENCE]]
// CHECK: %[[POWER:.*]] = arith.mulf %[[DIFFERENCE]]
// CHECK: %[[SCALE:.*]] = math.exp2 %[[POWER]]
// CHECK: %[[L1:.*]] = arith.mulf %[[L]], %[[SCALE]]
// CHECK: %[[COLUMN:.*]] = vector.shape_cast %[[SCALE]]
// CHECK: %[[COLUMNS:.*]] = vector.broadcast %[[COLUMN]]
// CHECK: %[[O1:.*]] = arith.mulf %[[O]], %[[COLUMNS]]
// CHECK-NOT: math.exp2
// CHECK: return %[[L1]], %[[O1]]
func.func @rescale(%l: vector<16xf32>, %o: vector<16x8xf32>, %from: vector<16xf32>, %to: vector<16xf32>, %c: f32) -> (vector<16xf32>, vector<16x8xf32>) {
  %r:2 = attn.rescale %l, %o from(%from) to(%to) factor(%c) : vector<16xf32>, vector<16x8xf32> by vector<16xf32>
  return %r#0, %r#1 : vector<16xf32>, vector<16x8xf32>
}

// One score per row.
// CHECK-LABEL: func.func @column
// CHECK: %[[POWER:.*]] = arith.mulf %{{.*}} : vector<16xf32>
// CHECK: math.exp2 %[[POWER]] : vector<16xf32>
func.func @column(%s: vector<16xf32>, %m: vector<16xf32>, %c: f32) -> vector<16xf32> {
  %p = attn.softmax_weights %s relative(%m) factor(%c) : vector<16xf32>, vector<16xf32>
  return %p : vector<16xf32>
}
