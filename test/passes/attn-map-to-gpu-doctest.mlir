// RUN: attn-opt %s --attn-map-to-gpu | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 16, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>

// CHECK: gpu.module @kernels
// CHECK: gpu.func @map({{.*}}) kernel attributes {attn.schedule = #attn.schedule<
// CHECK: %[[HEADS:[^ ]*]] = arith.muli
// CHECK: %[[TILES:[^ ]*]] = arith.muli %[[HEADS]]
// CHECK: %[[BLOCK:[^ ]*]] = gpu.block_id x
// CHECK: %[[GRID:[^ ]*]] = gpu.grid_dim x
// CHECK: scf.for %{{.*}} = %[[BLOCK]] to %[[TILES]] step %[[GRID]]
// CHECK:   %[[WORKER:[^ ]*]] = attn_gpu.worker_id
// CHECK:   memref.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %[[WORKER]]]
func.func @map(%o: memref<?x?x?xf32>, %b: index, %h: index, %n: index) {
  %one = arith.constant 1.0 : f32
  attn.tile_grid (%batch, %head, %tile, %worker) in (%b, %h, %n) workers(2) schedule(#schedule) {
    memref.store %one, %o[%batch, %head, %worker] : memref<?x?x?xf32>
  }
  return
}
