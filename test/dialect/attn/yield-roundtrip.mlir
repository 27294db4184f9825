// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --mlir-print-op-generic | FileCheck %s

// Ends a region that carries nothing without being written.
// CHECK: "attn.tile_grid"
// CHECK: "attn.yield"() : () -> ()
// CHECK: "attn.tile_loop"
// CHECK: "attn.yield"(%{{.*}}) : (f32) -> ()
func.func @yield(%n: index, %x: f32) -> f32 {
  attn.tile_grid (%b, %h, %t, %w) in (%n, %n, %n) workers(1) {
  }
  %r = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n)
      carries(sum %l = %x : f32) {
    attn.yield %l : f32
  }
  return %r : f32
}
