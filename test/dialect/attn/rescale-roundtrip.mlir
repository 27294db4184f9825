// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn.rescale %{{.*}}, %{{.*}} from(%{{.*}}) to(%{{.*}}) factor(%{{.*}}) : vector<16xf32>, vector<16x8xf32> by vector<16xf32>
// CHECK: attn.rescale %{{.*}} from(%{{.*}}) to(%{{.*}}) factor(%{{.*}}) : vector<16xf32> by vector<16xf32>
func.func @rescale(%l: vector<16xf32>, %o: vector<16x8xf32>, %c: f32) -> (vector<16x8xf32>, vector<16xf32>) {
  %0:2 = attn.rescale %l, %o from(%l) to(%l) factor(%c) : vector<16xf32>, vector<16x8xf32> by vector<16xf32>
  %1 = attn.rescale %l from(%l) to(%l) factor(%c) : vector<16xf32> by vector<16xf32>
  return %0#1, %1 : vector<16x8xf32>, vector<16xf32>
}
