// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 16,
                           workers = 4, query_stages = 1, stages = 1,
                           registers = [], overlap = false,
                           rescale_threshold = 0, persistent = false,
                           descending = false>

// CHECK-LABEL: @tile_grid
// CHECK: attn.tile_grid (%[[B:.*]], %[[H:.*]], %[[T:.*]], %[[W:.*]]) in (%{{.*}}, %{{.*}}, %{{.*}}) workers(3) {
// CHECK-NEXT: memref.store %[[T]], %{{.*}}[%[[B]], %[[H]], %[[W]]]
func.func @tile_grid(%n: index, %m: memref<?x?x?xindex>) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(3) {
    memref.store %t, %m[%b, %h, %w] : memref<?x?x?xindex>
  }
  return
}

// CHECK-LABEL: @scheduled
// CHECK: workers(4) schedule(#attn.schedule<{{.*}}>) attributes {note}
func.func @scheduled(%n: index) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(4) schedule(#schedule) attributes {note} {
  }
  return
}
