// RUN: attn-opt %s --attn-fuse-online-softmax -verify-diagnostics | FileCheck %s

!s = memref<16x?xf32>
!tile = vector<16x8xf32>

// The squares of the weights are summed.
// CHECK-LABEL: @negative_not_linear
// CHECK-COUNT-2: attn.tile_loop
func.func @negative_not_linear(%s: !s, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %none : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  // expected-remark @below {{not fused: expected sums of weights, or of a product with them, from 0 on}}
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(sum %l = %zero : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %p = attn.softmax_weights %scores relative(%max) factor(%c) : !tile, vector<16xf32>
    %q = arith.mulf %p, %p : !tile
    %next = vector.multi_reduction <add>, %q, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @negative_other_tiles
// CHECK-COUNT-2: attn.tile_loop
func.func @negative_other_tiles(%s: !s, %n: index, %c: f32, %k: index)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %none : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  // expected-remark @below {{not fused: expected both loops to take the same tiles}}
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %k) carries(sum %l = %zero : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %p = attn.softmax_weights %scores relative(%max) factor(%c) : !tile, vector<16xf32>
    %next = vector.multi_reduction <add>, %p, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @negative_other_scores
// CHECK-COUNT-2: attn.tile_loop
func.func @negative_other_scores(%s: !s, %t: !s, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %none : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  // expected-remark @below {{not fused: expected the maximum of the scores that are weighted}}
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(sum %l = %zero : vector<16xf32>) {
    %scores = vector.transfer_read %t[%c0, %key], %pad : !s, !tile
    %p = attn.softmax_weights %scores relative(%max) factor(%c) : !tile, vector<16xf32>
    %next = vector.multi_reduction <add>, %p, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// A sum that starts at 1 would be rescaled with the rest.
// CHECK-LABEL: @negative_sum_from_1
// CHECK-COUNT-2: attn.tile_loop
func.func @negative_sum_from_1(%s: !s, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %none : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  %one = arith.constant dense<1.0> : vector<16xf32>
  // expected-remark @below {{not fused: expected sums of weights, or of a product with them, from 0 on}}
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(sum %l = %one : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %p = attn.softmax_weights %scores relative(%max) factor(%c) : !tile, vector<16xf32>
    %next = vector.multi_reduction <add>, %p, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @negative_maximum_from_0
// CHECK-COUNT-2: attn.tile_loop
func.func @negative_maximum_from_0(%s: !s, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %zero : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  // expected-remark @below {{not fused: expected a reference that is the maximum of each row}}
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(sum %l = %zero : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %p = attn.softmax_weights %scores relative(%max) factor(%c) : !tile, vector<16xf32>
    %next = vector.multi_reduction <add>, %p, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// The second loop would read what was written.
// CHECK-LABEL: @negative_write_between
// CHECK-COUNT-2: attn.tile_loop
func.func @negative_write_between(%s: !s, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %none : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  memref.store %c, %s[%c0, %c0] : !s
  // expected-remark @below {{not fused: expected nothing to be written from the first loop on}}
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(sum %l = %zero : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %p = attn.softmax_weights %scores relative(%max) factor(%c) : !tile, vector<16xf32>
    %next = vector.multi_reduction <add>, %p, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @negative_write_in_loop
// CHECK-COUNT-2: attn.tile_loop
func.func @negative_write_in_loop(%s: !s, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %none : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  // expected-remark @below {{not fused: expected nothing to be written from the first loop on}}
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(sum %l = %zero : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %p = attn.softmax_weights %scores relative(%max) factor(%c) : !tile, vector<16xf32>
    memref.store %c, %s[%c0, %c0] : !s
    %next = vector.multi_reduction <add>, %p, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @negative_factor_of_the_tile
// CHECK-COUNT-2: attn.tile_loop
func.func @negative_factor_of_the_tile(%s: !s, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(maximum %m = %none : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  // expected-remark @below {{not fused: expected a factor that the loop does not change}}
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(sum %l = %zero : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %d = vector.extract %scores[0, 0] : f32 from !tile
    %p = attn.softmax_weights %scores relative(%max) factor(%d) : !tile, vector<16xf32>
    %next = vector.multi_reduction <add>, %p, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// A reference that no loop finds is none to fuse with.
// CHECK-LABEL: @negative_reference_from_outside
// CHECK-NOT: attn.rescale
func.func @negative_reference_from_outside(%s: !tile, %n: index, %c: f32, %m: vector<16xf32>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(sum %l = %zero : vector<16xf32>) {
    %p = attn.softmax_weights %s relative(%m) factor(%c) : !tile, vector<16xf32>
    %next = vector.multi_reduction <add>, %p, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %sum : vector<16xf32>
}
