// RUN: attn-opt %s --attn-expand-softmax=fuse-exponents | FileCheck %s

// One fma per score, exp2(s * c - m * c), while the product m * c is small
// enough for its rounding error not to show; else the difference first. Only
// the reference lives over the branch, not its product.
// CHECK-LABEL: func.func @weights
// CHECK-SAME: %[[S:[^ ]*]]: vector<16x8xf32>
// CHECK-SAME: %[[M:[^ ]*]]: vector<16xf32>, %[[C:[^ ]*]]: f32
// CHECK: %[[REFERENCE:.*]] = arith.select %{{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: %[[LIMIT:.*]] = arith.divf %{{.*}}, %[[C]] : f32
// CHECK: %[[SIZE:.*]] = math.absf %[[REFERENCE]]
// CHECK: %[[LIMITS:.*]] = vector.broadcast %[[LIMIT]]
// CHECK: %[[LARGE:.*]] = arith.cmpf ogt, %[[SIZE]], %[[LIMITS]] : vector<16xf32>
// CHECK: %[[ANY:.*]] = attn_gpu.warp_any %[[LARGE]]
// CHECK: %[[SHIFTED:.*]]:2 = scf.if %[[ANY]]
// CHECK: arith.subf %[[S]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[S]], %[[REFERENCE]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[SHIFTED]]#1,
// CHECK: arith.negf %[[PRODUCT]]
// CHECK: %[[POWER:.*]] = math.fma %[[SHIFTED]]#0, %{{[^ ]*}}, %{{[^ ]*}} : vector<16x8xf32>
// CHECK: math.exp2 %[[POWER]]
func.func @weights(%s: vector<16x8xf32>, %m: vector<16xf32>, %c: f32) -> vector<16x8xf32> {
  %p = attn.softmax_weights %s relative(%m) factor(%c) : vector<16x8xf32>, vector<16xf32>
  return %p : vector<16x8xf32>
}

// Where it is known that no reference is large, nothing is tested.
// CHECK-LABEL: func.func @known
// CHECK-SAME: %[[S:[^ ]*]]: vector<16x8xf32>, %[[M:[^ ]*]]: vector<16xf32>, %[[C:[^ ]*]]: f32, %[[LARGE:[^ ]*]]: i1
// CHECK: %[[REFERENCE:.*]] = arith.select
// CHECK-NOT: warp_any
// CHECK: %[[OPERANDS:.*]]:2 = scf.if %[[LARGE]]
// CHECK: attn_gpu.warp_any
// CHECK: arith.subf %[[S]]
// CHECK: } else {
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[S]], %[[REFERENCE]]
// CHECK: arith.mulf %[[OPERANDS]]#1,
// CHECK: math.fma %[[OPERANDS]]#0,
func.func @known(%s: vector<16x8xf32>, %m: vector<16xf32>, %c: f32, %large: i1) -> vector<16x8xf32> {
  %p = attn.softmax_weights %s relative(%m) factor(%c) large(%large) : vector<16x8xf32>, vector<16xf32>
  return %p : vector<16x8xf32>
}

// A row of scores has nothing to share the product with.
// CHECK-LABEL: func.func @column
// CHECK-NOT: math.fma
// CHECK: return
func.func @column(%s: vector<16xf32>, %m: vector<16xf32>, %c: f32) -> vector<16xf32> {
  %p = attn.softmax_weights %s relative(%m) factor(%c) : vector<16xf32>, vector<16xf32>
  return %p : vector<16xf32>
}
