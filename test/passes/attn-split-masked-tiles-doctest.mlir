// RUN: attn-opt %s --attn-split-masked-tiles | FileCheck %s

// Row i sees the keys up to its own: 2 workers of 16 rows, tiles of 8 keys.
// CHECK-LABEL: @split
// CHECK: %[[END:[^ ]*]] = arith.ceildivui
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK:   %[[PARTIAL:[^ ]*]] = scf.for %{{.*}} = %{{.*}} to %[[FULL_FROM:[^ ]*]] step
// CHECK:     attn.mask_band
// CHECK:   scf.for %{{.*}} = %[[FULL_FROM]] to %{{.*}} step {{.*}} = %[[PARTIAL]])
// CHECK-NOT: attn.mask_band
// CHECK:   vector.transfer_write
func.func @split(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %first_key = arith.constant dense<0> : vector<16xindex>
  scf.forall (%worker) in (2) {
    %row = arith.muli %worker, %c16 : index
    %step = vector.step : vector<16xindex>
    %rows = vector.broadcast %row : index to vector<16xindex>
    %own = arith.addi %step, %rows : vector<16xindex>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %key = arith.muli %j, %c8 : index
      %scores = vector.transfer_read %s[%row, %key], %pad : memref<32x?xf32>, vector<16x8xf32>
      %base = vector.broadcast %key : index to vector<16xindex>
      %lower = arith.subi %first_key, %base : vector<16xindex>
      %upper = arith.subi %own, %base : vector<16xindex>
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}
