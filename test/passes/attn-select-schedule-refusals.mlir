// RUN: attn-opt %s --attn-select-schedule -split-input-file -verify-diagnostics

// Every schedule that was considered is a note with what speaks against it.
#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x576xbf16>
!v = memref<?x?x?x512xbf16>
func.func @head_dims(%t: !t, %v: !v, %scale: f32) {
  // expected-error @below {{no schedule for head dim 576 fits sm_90a}}
  // expected-note-re @below {{rows = 192, keys = 128, {{.*}}: meant for head dims up to 64, but got 576}}
  // expected-note-re @below {{rows = 192, keys = 96, {{.*}}: meant for head dims up to 96, but got 576}}
  // expected-note-re @below {{rows = 192, keys = 80, {{.*}}: meant for head dims up to 128, but got 576}}
  // expected-note-re @below {{rows = 128, keys = 128, {{.*}}: meant for head dims up to 128, but got 576}}
  // expected-note-re @below {{rows = 128, keys = 96, {{.*}}: meant for head dims up to 192, but got 576}}
  // expected-note-re @below {{rows = 128, keys = 80, {{.*}}: meant for head dims up to 256, but got 576}}
  // expected-note-re @below {{rows = 128, keys = 64, {{.*}}: meant for head dims up to 256, but got 576}}
  attn.attention query(%t : !t) key(%t : !t) value(%v : !v) scale(%scale)
      outs(%v : !v) maps [#q, #k, #v, #o]
  return
}
