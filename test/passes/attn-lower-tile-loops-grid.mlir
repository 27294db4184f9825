// RUN: attn-opt %s --attn-lower-tile-loops | FileCheck %s

// What the host has of a grid: tiles in any order, and in each its workers.
// CHECK-LABEL: func.func @grid
// CHECK-SAME: %[[M:[^ ]*]]: memref<?x?x?x?xindex>, %[[N:[^ ]*]]: index
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[T:.*]]) in (%[[N]], 1, %[[N]]) {
// CHECK: scf.forall (%[[W:.*]]) in (2) {
// CHECK: memref.store %{{.*}}, %[[M]][%[[B]], %[[H]], %[[T]], %[[W]]]
func.func @grid(%m: memref<?x?x?x?xindex>, %n: index) {
  %c1 = arith.constant 1 : index
  attn.tile_grid (%b, %h, %t, %w) in (%n, %c1, %n) workers(2) {
    memref.store %t, %m[%b, %h, %t, %w] : memref<?x?x?x?xindex>
  }
  return
}

// A loop that carries nothing, up from tile 0 and from another.
// CHECK-LABEL: func.func @positions
// CHECK-SAME: %[[M:[^ ]*]]: memref<?xindex>, %[[FIRST:[^ ]*]]: index, %[[N:[^ ]*]]: index
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %c32
// CHECK: memref.store %[[ROW]], %[[M]][%[[I]]]
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK: %[[TILE:.*]] = arith.addi %[[J]], %[[FIRST]]
// CHECK: %[[KEY:.*]] = arith.muli %[[TILE]], %c16
// CHECK: memref.store %[[KEY]], %[[M]][%[[J]]]
func.func @positions(%m: memref<?xindex>, %first: index, %n: index) {
  %c0 = arith.constant 0 : index
  attn.tile_loop (%i, %row) over rows step 32 first(%c0) from(%c0) segments(full %n) {
    memref.store %row, %m[%i] : memref<?xindex>
  }
  attn.tile_loop (%i, %key) over keys step 16 first(%first) from(%c0) segments(partial %n) {
    memref.store %key, %m[%i] : memref<?xindex>
  }
  return
}
