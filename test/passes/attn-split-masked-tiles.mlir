// RUN: attn-opt %s --attn-split-masked-tiles | FileCheck %s

// The last of the 32 rows says where the keys end, the first where full tiles do.
// CHECK-LABEL: @rows_of_all_workers
// CHECK: %[[LAST_ROW:[^ ]*]] = arith.constant 31
// CHECK: %[[LAST:[^ ]*]] = arith.addi %[[LAST_ROW]], %{{.*}}
// CHECK: arith.minsi %[[LAST]]
// CHECK: %[[FIRST:[^ ]*]] = arith.addi %c0{{[^ ]*}}, %{{.*}}
// CHECK: arith.minsi %[[FIRST]]
// CHECK: attn.band
func.func @rows_of_all_workers(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
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

// Where all rows end at one key, the first tile is the only one that masks.
// CHECK-LABEL: @rows_of_one_end
// CHECK: %[[TILES:[^ ]*]] = arith.ceildivui
// CHECK: %[[ONE_OR_NONE:[^ ]*]] = arith.minsi %[[TILES]]
// CHECK: segments(tail %[[ONE_OR_NONE]], full %[[TILES]])
func.func @rows_of_one_end(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
    %row = arith.muli %w, %c16 : index
    %lower, %upper = attn.band rows(%row) of(%b, %h) lengths(%n, %k) : vector<16xindex>
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

// What the loop carries stays, and so does its body.
// CHECK-LABEL: @body_stays
// CHECK: carries(sum %[[L:[^ ]*]] = %{{.*}} : vector<16xf32>)
// CHECK: attn.mask_band
// CHECK: vector.multi_reduction <add>, %{{.*}}, %[[L]]
// CHECK-NOT: attn.tile_loop
func.func @body_stays(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
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
