// RUN: attn-opt %s --attn-fuse-online-softmax | FileCheck %s

!s = memref<16x?xf32>
!tile = vector<16x8xf32>

// CHECK-LABEL: @fuse
// CHECK: %[[R:[^ ]*]]:2 = attn.tile_loop {{.*}} carries(maximum %[[OLD:[^ ]*]] = %{{.*}}, sum %[[SUM:[^ ]*]] =
// CHECK:   %[[NEW:[^ ]*]] = vector.multi_reduction <maxnumf>, %[[SCORES:[^ ]*]], %[[OLD]]
// CHECK:   %[[MOVED:[^ ]*]] = attn.rescale %[[SUM]] from(%[[OLD]]) to(%[[NEW]])
// CHECK:   %[[P:[^ ]*]] = attn.softmax_weights %[[SCORES]] relative(%[[NEW]])
// CHECK:   %[[PART:[^ ]*]] = vector.multi_reduction <add>, %[[P]]
// CHECK:   arith.addf %[[MOVED]], %[[PART]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @fuse(%s: !s, %n: index, %c: f32)
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
  %sum = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0)
      segments(partial %n) carries(sum %l = %zero : vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %key], %pad : !s, !tile
    %p = attn.softmax_weights %scores relative(%max) factor(%c) : !tile, vector<16xf32>
    %next = vector.multi_reduction <add>, %p, %l [1] : !tile to vector<16xf32>
    attn.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}
