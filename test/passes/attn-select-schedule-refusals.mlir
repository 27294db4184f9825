// RUN: attn-opt %s --attn-select-schedule -split-input-file -verify-diagnostics

// Every schedule that was considered is a note with what speaks against it.
#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xf32>
func.func @element_size(%t: !t, %scale: f32) {
  // expected-error @below {{no schedule for head dim 64 fits sm_90a}}
  // expected-note-re @below {{rows = 192, keys = 128, {{.*}}: expected 16-bit elements, but got 32 bits}}
  // expected-note-re @below {{rows = 192, keys = 96, {{.*}}: expected 16-bit elements, but got 32 bits}}
  // expected-note-re @below {{rows = 192, keys = 80, {{.*}}: expected 16-bit elements, but got 32 bits}}
  // expected-note-re @below {{rows = 128, keys = 128, {{.*}}: expected 16-bit elements, but got 32 bits}}
  // expected-note-re @below {{rows = 128, keys = 96, {{.*}}: expected 16-bit elements, but got 32 bits}}
  // expected-note-re @below {{rows = 128, keys = 80, {{.*}}: expected 16-bit elements, but got 32 bits}}
  // expected-note-re @below {{rows = 128, keys = 64, {{.*}}: expected 16-bit elements, but got 32 bits}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t) maps [#q, #k, #v, #o]
  return
}
