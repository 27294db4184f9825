// RUN: attn-opt %s --attn-map-to-gpu -split-input-file -verify-diagnostics

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 16, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
func.func @nested(%begin: index, %end: index, %step: index) {
  scf.for %i = %begin to %end step %step {
    // expected-error @below {{expected to be at the top level of a function}}
    attn.tile_grid (%b, %h, %t, %w) in (%i, %i, %i) workers(2) schedule(#schedule) {
    }
  }
  return
}

// -----

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 16, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
// expected-error @below {{expected no results, but got 1}}
func.func @results(%n: index) -> index {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
  }
  return %n : index
}

// -----

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 16, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
func.func @another_effect(%n: index, %o: memref<?xindex>) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
  }
  // expected-error @below {{expected no effects beside the one grid of tiles}}
  memref.store %n, %o[%n] : memref<?xindex>
  return
}

// -----

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 16, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
func.func @two_grids(%n: index, %o: memref<?xindex>) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
  }
  // expected-error @below {{expected no effects beside the one grid of tiles}}
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
    memref.store %n, %o[%n] : memref<?xindex>
  }
  return
}

// -----

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 16, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
// expected-error @below {{expected no calls of a function that becomes a kernel}}
func.func @called(%n: index) {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
  }
  return
}
func.func @caller(%n: index) {
  call @called(%n) : (index) -> ()
  return
}

// -----

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 16, keys = 16, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
func.func @half_a_warp(%n: index) {
  // expected-error @below {{expected rows per worker and keys to be multiples of 16, but got 8}}
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
  }
  return
}
