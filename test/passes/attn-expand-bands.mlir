// RUN: attn-opt %s --attn-expand-bands --cse | FileCheck %s

// Without a mask, all rows see all keys.
// CHECK-LABEL: func.func @no_mask
// CHECK-SAME: %[[FIRST:[^ ]*]]: index, %[[SQ:[^ ]*]]: index, %[[SK:[^ ]*]]: index
// CHECK-DAG: %[[LOWER:.*]] = arith.constant dense<0> : vector<16xindex>
// CHECK-DAG: %[[UPPER:.*]] = vector.broadcast %[[SK]] : index to vector<16xindex>
// CHECK-NOT: arith.addi
// CHECK: return %[[LOWER]], %[[UPPER]]
func.func @no_mask(%first: index, %sq: index, %sk: index) -> (vector<16xindex>, vector<16xindex>) {
  %lower, %upper = attn.band rows(%first) of(%first, %first) lengths(%sq, %sk) : vector<16xindex>
  return %lower, %upper : vector<16xindex>, vector<16xindex>
}

// The diagonal through the top left corner does not depend on the lengths, but
// for the end of the keys.
// CHECK-LABEL: func.func @top_left_in_a_loop
// CHECK-SAME: %[[FIRST:[^ ]*]]: index, %[[SQ:[^ ]*]]: index, %[[SK:[^ ]*]]: index
// CHECK: scf.for %[[I:[^ ]*]] = {{.*}} step
// CHECK-NOT: %[[SQ]]
// CHECK: vector.broadcast %[[I]]
// CHECK: %[[UPPER:.*]] = arith.minsi
// CHECK: vector.transfer_write %[[UPPER]]
// CHECK-NOT: attn.band
func.func @top_left_in_a_loop(%first: index, %sq: index, %sk: index, %m: memref<?xindex>) {
  %c1 = arith.constant 1 : index
  scf.for %i = %first to %sq step %c1 {
    %lower, %upper = attn.band rows(%i) of(%first, %first) lengths(%sq, %sk) mask(#attn.causal<top_left>) : vector<8xindex>
    vector.transfer_write %upper, %m[%i] : vector<8xindex>, memref<?xindex>
  }
  return
}
