// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn.softmax_weights %{{.*}} relative(%{{.*}}) factor(%{{.*}}) : vector<16x8xf32>, vector<16xf32>
// CHECK: attn.softmax_weights %{{.*}} relative(%{{.*}}) factor(%{{.*}}) : vector<16xf64>, vector<16xf64>
func.func @softmax_weights(%s: vector<16x8xf32>, %m: vector<16xf32>, %c: f32, %d: vector<16xf64>, %e: f64)
    -> (vector<16x8xf32>, vector<16xf64>) {
  %0 = attn.softmax_weights %s relative(%m) factor(%c) : vector<16x8xf32>, vector<16xf32>
  %1 = attn.softmax_weights %d relative(%d) factor(%e) : vector<16xf64>, vector<16xf64>
  return %0, %1 : vector<16x8xf32>, vector<16xf64>
}

// What is known of the references.
// CHECK-LABEL: func.func @large
// CHECK: attn.softmax_weights %{{.*}} relative(%{{.*}}) factor(%{{.*}}) large(%{{.*}}) : vector<16x8xf32>, vector<16xf32>
func.func @large(%s: vector<16x8xf32>, %m: vector<16xf32>, %c: f32, %any: i1) -> vector<16x8xf32> {
  %0 = attn.softmax_weights %s relative(%m) factor(%c) large(%any) : vector<16x8xf32>, vector<16xf32>
  return %0 : vector<16x8xf32>
}
