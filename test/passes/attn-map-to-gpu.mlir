// RUN: attn-opt %s --attn-map-to-gpu | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 16, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
#descending = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 16, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = true>
#host = #attn.schedule<style = host, target = "host", rows = 4, keys = 4, workers = 1, query_stages = 1, stages = 1, registers = [], overlap = false, rescale_threshold = 0, persistent = false, descending = false>
#no_roles = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 16, workers = 4, query_stages = 1, stages = 1, registers = [], overlap = false, rescale_threshold = 0, persistent = false, descending = false>

// CHECK-LABEL: func.func @negative_no_schedule
func.func @negative_no_schedule(%n: index) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) {
  }
  return
}

// CHECK-LABEL: func.func @negative_host
// CHECK: attn.tile_grid
func.func @negative_host(%n: index) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(1) schedule(#host) {
  }
  return
}

// CHECK-NOT: func.func
// 2 workers of 16 rows are a warp each, and the producer is one more.
// CHECK-LABEL: gpu.func @block_size
// CHECK-SAME: attn_gpu.warps_per_worker = 1
// CHECK-SAME: known_block_size = array<i32: 96, 1, 1>
func.func @block_size(%n: index) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
  }
  return
}

// CHECK-LABEL: gpu.func @block_size_without_roles
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
func.func @block_size_without_roles(%n: index) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(4) schedule(#no_roles) {
  }
  return
}

// CHECK-LABEL: gpu.func @what_comes_before_the_loop
// CHECK: %[[DIM:[^ ]*]] = memref.dim
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[DIM]]]
func.func @what_comes_before_the_loop(%o: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %dim = memref.dim %o, %c0 : memref<?xindex>
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
    memref.store %h, %o[%dim] : memref<?xindex>
  }
  return
}

// CHECK-LABEL: gpu.func @last_tile_first
// CHECK: arith.minsi
// CHECK: %[[TILE:[^ ]*]] = arith.divui
// CHECK: %[[LAST:[^ ]*]] = arith.subi
// CHECK: %[[MIRRORED:[^ ]*]] = arith.subi %[[LAST]], %[[TILE]]
// CHECK: memref.store %[[MIRRORED]]
func.func @last_tile_first(%o: memref<?xindex>, %n: index) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#descending) {
    memref.store %t, %o[%h] : memref<?xindex>
  }
  return
}

// A head's tiles start at one that moves by one from round to round of the grid.
// CHECK-LABEL: gpu.func @tiles_turn
// CHECK-SAME: %[[N:[^ ]*]]: index)
// CHECK: %[[GRID:[^ ]*]] = gpu.grid_dim x
// CHECK: scf.for %[[T:[^ ]*]] =
// CHECK: %[[HEAD:[^ ]*]] = arith.divui %[[T]], %[[N]]
// CHECK: %[[FIRST:[^ ]*]] = arith.muli %[[HEAD]], %[[N]]
// CHECK: %[[ROUND:[^ ]*]] = arith.divui %[[FIRST]], %[[GRID]]
// CHECK: %[[OWN:[^ ]*]] = arith.subi %[[T]], %[[FIRST]]
// CHECK: %[[SUM:[^ ]*]] = arith.addi %[[OWN]], %[[ROUND]]
// CHECK: %[[TILE:[^ ]*]] = arith.remui %[[SUM]], %[[N]]
// CHECK: memref.store %[[TILE]]
func.func @tiles_turn(%o: memref<?xindex>, %n: index) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
    memref.store %t, %o[%h] : memref<?xindex>
  }
  return
}
