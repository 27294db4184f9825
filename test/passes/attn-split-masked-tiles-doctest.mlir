// RUN: attn-opt %s --attn-split-masked-tiles | FileCheck %s

// Row i sees the keys up to its own: 2 workers of 16 rows, tiles of 8 keys.
// CHECK-LABEL: @split
// CHECK: %[[END:[^ ]*]] = arith.ceildivui
// CHECK: %[[LAST:[^ ]*]] = arith.subi %[[END]]
// CHECK: %[[PARTIAL:[^ ]*]] = arith.minsi
// CHECK: attn.tile_loop {{.*}} first(%[[LAST]]) descending from(%{{.*}}) segments(partial %[[PARTIAL]], full %{{.*}})
func.func @split(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
    %row = arith.muli %w, %c16 : index
    %lower, %upper = attn.band rows(%row) of(%b, %h) lengths(%n, %k) mask(#attn.causal<top_left>) : vector<16xindex>
    %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
        segments(partial %k)
        carries(sum %l = %zero : vector<16xf32>) {
      %x = attn.mask_band %s at(%key) [%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %x, %l [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}
