// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @outside_attention(%score: f32) {
  // expected-error @below {{expects parent op to be one of 'attn.attention, attn.tile_grid, attn.tile_loop'}}
  attn.yield %score : f32
}
