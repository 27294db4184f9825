// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @tile_grid_c1(%n: index) {
  // expected-error @below {{expected extents of batches, heads and tiles, but got 2}}
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n) workers(1) {
  }
  return
}

// -----

func.func @tile_grid_c2(%n: index) {
  // expected-error @below {{expected four index arguments: batch, head, tile and worker}}
  attn.tile_grid (%b, %h, %t) in (%n, %n, %n) workers(1) {
  }
  return
}

// -----

func.func @arguments_are_numbers(%n: index) {
  // expected-error @below {{expected four index arguments: batch, head, tile and worker}}
  "attn.tile_grid"(%n, %n, %n) <{workers = 1 : i64}> ({
  ^bb0(%b: index, %h: index, %t: index, %w: i32):
    attn.yield
  }) : (index, index, index) -> ()
  return
}

// -----

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 16,
                           workers = 4, query_stages = 1, stages = 1,
                           registers = [], overlap = false,
                           rescale_threshold = 0, persistent = false,
                           descending = false>
func.func @tile_grid_c3(%n: index) {
  // expected-error @below {{expected as many workers as in the schedule, 4, but got 2}}
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(2) schedule(#schedule) {
  }
  return
}

// -----

func.func @workers_are_positive(%n: index) {
  // expected-error @below {{attribute 'workers' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(0) {
  }
  return
}
