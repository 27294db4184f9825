// RUN: attn-opt %s --attn-expand-bands | FileCheck %s

// Row i sees the keys up to i + seqlen_k - seqlen_q.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[FIRST:[^ ]*]]: index, %[[SQ:[^ ]*]]: index, %[[SK:[^ ]*]]: index
// CHECK: %[[STEP:.*]] = vector.step : vector<16xindex>
// CHECK: %[[FIRSTS:.*]] = vector.broadcast %[[FIRST]]
// CHECK: %[[ROWS:.*]] = arith.addi %[[STEP]], %[[FIRSTS]]
// CHECK: %[[LOWER:.*]] = arith.constant dense<0> : vector<16xindex>
// CHECK: arith.subi %[[SK]], %[[SQ]]
// CHECK: %[[END:.*]] = arith.addi %[[ROWS]], %{{.*}} : vector<16xindex>
// CHECK: %[[UPPER:.*]] = arith.minsi %[[END]], %{{.*}} : vector<16xindex>
// CHECK: return %[[LOWER]], %[[UPPER]]
func.func @causal(%first: index, %sq: index, %sk: index) -> (vector<16xindex>, vector<16xindex>) {
  %lower, %upper = attn.band rows(%first) of(%first, %first) lengths(%sq, %sk) mask(#attn.causal<bottom_right>) : vector<16xindex>
  return %lower, %upper : vector<16xindex>, vector<16xindex>
}
