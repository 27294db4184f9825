// RUN: attn-opt %s -split-input-file --attn-select-schedule -verify-diagnostics
// RUN: attn-opt %s -split-input-file --attn-select-schedule=target=sm_80 -verify-diagnostics

// What no schedule mends is refused at the op, before anything is lowered.

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// the inner extent of a product of Q and K
!q = memref<?x?x?x60xf16>
!o = memref<?x?x?x60xf16>
func.func @head_dim(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{head_dim_qk: expected a multiple of 8 from 8 to 256, but got 60}}
  // expected-error @below {{head_dim_vo: expected a multiple of 8 from 8 to 256, but got 60}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// wider than any
!q = memref<?x?x?x264xf16>
!o = memref<?x?x?x264xf16>
func.func @wide_head_dim(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{head_dim_qk: expected a multiple of 8 from 8 to 256, but got 264}}
  // expected-error @below {{head_dim_vo: expected a multiple of 8 from 8 to 256, but got 264}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// lengths are below 2^31
!q = memref<?x2147483648x?x64xf16>
!o = memref<?x2147483648x?x64xf16>
func.func @length(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{q: expected an extent from 0 to 2147483647 of dimension 1, but got 2147483648}}
  // expected-error @below {{k: expected an extent from 0 to 2147483647 of dimension 1, but got 2147483648}}
  // expected-error @below {{v: expected an extent from 0 to 2147483647 of dimension 1, but got 2147483648}}
  // expected-error @below {{o: expected an extent from 0 to 2147483647 of dimension 1, but got 2147483648}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// somebody divides by the number of heads
!q = memref<?x?x0x64xf16>
!o = memref<?x?x0x64xf16>
func.func @heads(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{q: expected an extent from 1 to 2147483647 of dimension 2, but got 0}}
  // expected-error @below {{k: expected an extent from 1 to 2147483647 of dimension 2, but got 0}}
  // expected-error @below {{v: expected an extent from 1 to 2147483647 of dimension 2, but got 0}}
  // expected-error @below {{o: expected an extent from 1 to 2147483647 of dimension 2, but got 0}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// shared memory
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf16, 3>
func.func @space(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{o: expected memory of the default space, but got 3 : i64}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// columns apart
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf16, strided<[?, ?, ?, 2]>>
func.func @columns(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{o: expected columns without gaps}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// columns that may be apart
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf16, strided<[?, ?, ?, ?]>>
func.func @unknown_columns(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{o: expected columns without gaps}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// no strides say where elements are
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf16, affine_map<(a, b, c, d) -> (a, b, c floordiv 2, d)>>
func.func @layout(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{o: expected a layout of strides}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// backwards
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf16, strided<[?, ?, -64, 1]>>
func.func @negative_stride(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{o: expected strides of at least 0, but got -64}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// no kernel rounds to another type than it reads
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf32>
func.func @output(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{dtype_o: f32 with dtype f16 is not implemented yet}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// 16 bits, but no float that products take
!q = memref<?x?x?x64xf32>
!o = memref<?x?x?x64xf32>
func.func @element(%q: !q, %o: !o, %scale: f32) {
  // expected-error @below {{dtype: f32 is not implemented yet}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// not a factor
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf16>
func.func @scale(%q: !q, %o: !o) {
  %scale = arith.constant 0.0 : f32
  // expected-error @below {{softmax_scale: expected a finite number greater than 0, but got 0.000000e+00 : f32}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// not a factor
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf16>
func.func @scale(%q: !q, %o: !o) {
  %scale = arith.constant -1.0 : f32
  // expected-error @below {{softmax_scale: expected a finite number greater than 0, but got -1.000000e+00 : f32}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// not a factor
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf16>
func.func @scale(%q: !q, %o: !o) {
  %scale = arith.constant 0x7F800000 : f32
  // expected-error @below {{softmax_scale: expected a finite number greater than 0, but got 0x7F800000 : f32}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// not a factor
!q = memref<?x?x?x64xf16>
!o = memref<?x?x?x64xf16>
func.func @scale(%q: !q, %o: !o) {
  %scale = arith.constant 0x7FC00000 : f32
  // expected-error @below {{softmax_scale: expected a finite number greater than 0, but got 0x7FC00000 : f32}}
  attn.attention query(%q : !q) key(%q : !q) value(%q : !q) scale(%scale)
      outs(%o : !o) maps [#q, #k, #v, #o]
  return
}
