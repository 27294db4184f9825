// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s
// RUN: attn-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @all_parts
// CHECK: attn.tile_loop (%[[I:.*]], %[[KEY:.*]]) over keys step 80 first(%{{.*}}) descending from(%{{.*}}) segments(partial %{{.*}}, full %{{.*}}, tail %{{.*}}) carries(maximum %[[M:.*]] = %{{.*}} : vector<4xf32>, sum %[[L:.*]] = %{{.*}} : vector<4xf32>, accumulator %{{.*}} = %{{.*}} : vector<4x8xf32>, weights %{{.*}} = %{{.*}} : vector<4x8xbf16>) attributes {note} {
// CHECK: attn.yield %[[L]], %[[M]]
func.func @all_parts(%a: index, %b: index, %c: index, %s: memref<?xindex>, %m: vector<4xf32>, %o: vector<4x8xf32>, %p: vector<4x8xbf16>)
    -> (vector<4xf32>, vector<4x8xf32>) {
  %r:4 = attn.tile_loop (%i, %key) over keys step 80 first(%b) descending
      from(%a) segments(partial %a, full %b, tail %c)
      carries(maximum %m0 = %m : vector<4xf32>, sum %l0 = %m : vector<4xf32>,
              accumulator %o0 = %o : vector<4x8xf32>, weights %p0 = %p : vector<4x8xbf16>)
      attributes {note} {
    memref.store %key, %s[%i] : memref<?xindex>
    attn.yield %l0, %m0, %o0, %p0 : vector<4xf32>, vector<4xf32>, vector<4x8xf32>, vector<4x8xbf16>
  }
  return %r#0, %r#2 : vector<4xf32>, vector<4x8xf32>
}

// No terminator is printed where nothing is carried.
// CHECK-LABEL: @rows
// CHECK: attn.tile_loop (%{{.*}}, %[[ROW:.*]]) over rows step 64 first(%{{.*}}) from(%{{.*}}) segments(full %{{.*}}) {
// CHECK-NEXT: memref.store %[[ROW]]
// CHECK-NEXT: }
func.func @rows(%n: index, %s: memref<index>) {
  attn.tile_loop (%i, %row) over rows step 64 first(%n) from(%n) segments(full %n) {
    memref.store %row, %s[] : memref<index>
  }
  return
}

// CHECK-LABEL: @partial_sum
// CHECK: carries(partial_sum %{{.*}} = %{{.*}} : vector<4xf32>)
func.func @partial_sum(%n: index, %l: vector<4xf32>, %x: vector<4xf32>) -> vector<4xf32> {
  %r = attn.tile_loop (%i, %row) over rows step 64 first(%n) from(%n) segments(full %n)
      carries(partial_sum %l0 = %l : vector<4xf32>) {
    %l1 = arith.addf %l0, %x : vector<4xf32>
    attn.yield %l1 : vector<4xf32>
  }
  return %r : vector<4xf32>
}
