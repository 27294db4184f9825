// RUN: attn-opt %s --pass-pipeline='builtin.module(func.func(attn-expand-softmax,cse))' | FileCheck %s

// A rescaling under a branch takes its shift from in front of it, which the
// weights behind it need as well: one product of the new reference.
// CHECK-LABEL: @one_shift
// CHECK: %[[SHIFT:[^ ]*]] = arith.negf
// CHECK: scf.if
// CHECK-NOT: arith.negf
// CHECK: math.fma %{{[^ ]*}}, %{{[^ ]*}}, %[[SHIFT]]
// CHECK: } else {
// CHECK-NOT: arith.negf
// CHECK: math.fma
func.func @one_shift(%any: i1, %s: vector<16x8xf32>, %l: vector<16xf32>, %m: vector<16xf32>, %c: f32) -> (vector<16xf32>, vector<16x8xf32>) {
  %n = math.absf %m : vector<16xf32>
  %r = scf.if %any -> (vector<16xf32>) {
    %scaled = attn.rescale %l from(%m) to(%n) factor(%c) : vector<16xf32> by vector<16xf32>
    scf.yield %scaled : vector<16xf32>
  } else {
    scf.yield %l : vector<16xf32>
  }
  %p = attn.softmax_weights %s relative(%n) factor(%c) : vector<16x8xf32>, vector<16xf32>
  return %r, %p : vector<16xf32>, vector<16x8xf32>
}
