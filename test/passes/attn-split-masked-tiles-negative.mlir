// RUN: attn-opt %s --attn-split-masked-tiles -verify-diagnostics | FileCheck %s

// What is read from memory may not be known in front of the loop.
// CHECK-LABEL: @negative_row_from_memory
// CHECK: segments(partial %
// CHECK-NOT: full
func.func @negative_row_from_memory(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index, %rows: memref<2xindex>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
    %row = arith.muli %w, %c16 : index
    %own = memref.load %rows[%w] : memref<2xindex>
    %lower, %upper = attn.band rows(%own) of(%b, %h) lengths(%n, %k) mask(#attn.causal<top_left>) : vector<16xindex>
    // expected-remark @below {{key tiles are not split: expected rows that follow from the tile and the worker}}
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

// CHECK-LABEL: @negative_two_bands
// CHECK: segments(partial %
// CHECK-NOT: full
func.func @negative_two_bands(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
    %row = arith.muli %w, %c16 : index
    %lower, %upper = attn.band rows(%row) of(%b, %h) lengths(%n, %k) mask(#attn.causal<top_left>) : vector<16xindex>
    // expected-remark @below {{key tiles are not split: expected bounds of one attn.band}}
    %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
        segments(partial %k)
        carries(sum %l = %zero : vector<16xf32>) {
      %l2, %u2 = attn.band rows(%c16) of(%b, %h) lengths(%n, %k) : vector<16xindex>
      %y = attn.mask_band %s at(%key) [%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %x = attn.mask_band %y at(%key) [%l2, %u2] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %x, %l [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// CHECK-LABEL: @negative_bounds_swapped
// CHECK: segments(partial %
// CHECK-NOT: full
func.func @negative_bounds_swapped(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
    %row = arith.muli %w, %c16 : index
    %lower, %upper = attn.band rows(%row) of(%b, %h) lengths(%n, %k) mask(#attn.causal<top_left>) : vector<16xindex>
    // expected-remark @below {{key tiles are not split: expected bounds of one attn.band}}
    %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
        segments(partial %k)
        carries(sum %l = %zero : vector<16xf32>) {
      %x = attn.mask_band %s at(%key) [%upper, %lower] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %x, %l [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// CHECK-LABEL: @negative_keys_from_1
// CHECK: segments(partial %
// CHECK-NOT: full
func.func @negative_keys_from_1(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
    %row = arith.muli %w, %c16 : index
    %c1 = arith.constant 1 : index
    %lower, %upper = attn.band rows(%row) of(%b, %h) lengths(%n, %k) mask(#attn.causal<top_left>) : vector<16xindex>
    // expected-remark @below {{key tiles are not split: expected a loop over all keys in one segment}}
    %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c1)
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

// CHECK-LABEL: @negative_over_rows
// CHECK: segments(partial %
// CHECK-NOT: full
func.func @negative_over_rows(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
    %row = arith.muli %w, %c16 : index
    %lower, %upper = attn.band rows(%row) of(%b, %h) lengths(%n, %k) mask(#attn.causal<top_left>) : vector<16xindex>
    // expected-remark @below {{key tiles are not split: expected a loop over all keys in one segment}}
    %sum = attn.tile_loop (%i, %key) over rows step 8 first(%c0) from(%c0)
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

// CHECK-LABEL: @negative_split_already
// CHECK: segments(partial %{{.*}}, full %{{.*}})
func.func @negative_split_already(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
    %row = arith.muli %w, %c16 : index
    %lower, %upper = attn.band rows(%row) of(%b, %h) lengths(%n, %k) mask(#attn.causal<top_left>) : vector<16xindex>
    // expected-remark @below {{key tiles are not split: expected a loop over all keys in one segment}}
    %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) descending from(%c0)
        segments(partial %c16, full %k)
        carries(sum %l = %zero : vector<16xf32>) {
      %x = attn.mask_band %s at(%key) [%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %x, %l [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// A loop without a mask has nothing to split.
// CHECK-LABEL: @negative_no_mask
// CHECK: segments(partial %
func.func @negative_no_mask(%s: vector<16x8xf32>, %o: memref<32xf32>, %n: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
    %row = arith.muli %w, %c16 : index
    %lower, %upper = attn.band rows(%row) of(%b, %h) lengths(%n, %k) mask(#attn.causal<top_left>) : vector<16xindex>
    %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
        segments(partial %k)
        carries(sum %l = %zero : vector<16xf32>) {
      %x = arith.negf %s : vector<16x8xf32>
      %next = vector.multi_reduction <add>, %x, %l [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}
