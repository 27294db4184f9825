// RUN: attn-opt %s --attn-tile -split-input-file -verify-diagnostics

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x16xbf16>
func.func @no_schedule(%t: !t, %scale: f32) {
  // expected-error @below {{expected a schedule; run attn-select-schedule}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#schedule = #attn.schedule<style = host, target = "host", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 0,
                           persistent = false, descending = false>
!t = tensor<?x?x?x16xbf16>
func.func @tensors(%t: !t, %scale: f32) -> !t {
  // expected-error @below {{expected memrefs, but got tensors; bufferize first}}
  %r = attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t) schedule(#schedule) maps [#q, #k, #v, #o] -> !t
  return %r : !t
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
#schedule = #attn.schedule<style = host, target = "host", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 0,
                           persistent = false, descending = false>
!t = memref<?x?x?x16xbf16>
func.func @score_mod(%t: !t, %scale: f32) {
  // expected-error @below {{expected no score_mod: not lowered yet}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t) schedule(#schedule) maps [#q, #k, #v, #o] score_mod {
  ^bb0(%score: f32, %b: index, %h: index, %i: index, %j: index):
    attn.yield %score : f32
  }
  return
}
