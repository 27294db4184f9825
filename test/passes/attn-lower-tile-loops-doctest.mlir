// RUN: attn-opt %s --attn-lower-tile-loops | FileCheck %s

// CHECK-LABEL: func.func @segments
// CHECK-SAME: %[[S:[^ ]*]]: vector<16x8xf32>, %{{.*}}: vector<16xindex>, %[[FIRST:[^ ]*]]: index, %[[A:[^ ]*]]: index, %[[N:[^ ]*]]: index
// CHECK: %[[PARTIAL:[^ ]*]] = scf.for %[[I:[^ ]*]] = %c0 to %[[A]] step %{{.*}} iter_args
// CHECK:   %[[END:[^ ]*]] = arith.addi %[[FIRST]], %c1
// CHECK:   %[[NEXT:[^ ]*]] = arith.addi %[[I]], %c1
// CHECK:   %[[TILE:[^ ]*]] = arith.subi %[[END]], %[[NEXT]]
// CHECK:   %[[KEY:[^ ]*]] = arith.muli %[[TILE]], %c8
// CHECK:   %[[MASKED:[^ ]*]] = attn.mask_band %[[S]] at(%[[KEY]])
// CHECK:   vector.multi_reduction <add>, %[[MASKED]]
// CHECK: scf.for %{{.*}} = %[[A]] to %[[N]] step %{{.*}} iter_args(%[[L:[^ ]*]] = %[[PARTIAL]])
// CHECK-NEXT: vector.multi_reduction <add>, %[[S]], %[[L]]
// CHECK-NOT: attn.
func.func @segments(%s: vector<16x8xf32>, %b: vector<16xindex>, %first: index, %a: index, %n: index) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%first) descending from(%c0)
      segments(partial %a, full %n)
      carries(sum %l = %zero : vector<16xf32>) {
    %x = attn.mask_band %s at(%key) [%b, %b] : vector<16x8xf32>, vector<16xindex>
    %next = vector.multi_reduction <add>, %x, %l [1] : vector<16x8xf32> to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %sum : vector<16xf32>
}
