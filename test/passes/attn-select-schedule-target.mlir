// RUN: attn-opt %s --attn-select-schedule=target=sm_80 -verify-diagnostics

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @target(%t: !t, %scale: f32) {
  // expected-error @below {{no style is lowered to target sm_80 yet}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t) maps [#q, #k, #v, #o]
  return
}
