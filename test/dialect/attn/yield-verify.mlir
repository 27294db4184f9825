// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @outside_attention(%score: f32) {
  // expected-error @below {{expects parent op to be one of 'attn.attention, attn.tile_grid, attn.tile_loop'}}
  attn.yield %score : f32
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @another_type(%q: !t, %s: f32) {
  // expected-error @below {{expected the score_mod to yield an 'f32'}}
  attn.attention query(%q : !t) key(%q : !t) value(%q : !t) scale(%s)
      outs(%q : !t) maps [#q, #k, #v, #o] score_mod {
  ^bb0(%score: f32, %b: index, %h: index, %i: index, %j: index):
    attn.yield %i : index
  }
  return
}
