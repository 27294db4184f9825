// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn.mask_band %{{.*}} at(%{{.*}}) [%{{.*}}, %{{.*}}] : vector<16x8xf32>, vector<16xindex>
func.func @mask_band(%scores: vector<16x8xf32>, %key: index, %lower: vector<16xindex>,
                     %upper: vector<16xindex>) -> vector<16x8xf32> {
  %r = attn.mask_band %scores at(%key) [%lower, %upper]
      : vector<16x8xf32>, vector<16xindex>
  return %r : vector<16x8xf32>
}
