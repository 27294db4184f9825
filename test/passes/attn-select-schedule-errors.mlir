// RUN: attn-opt %s --attn-select-schedule -split-input-file -verify-diagnostics

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @unknown_target(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected a known target, but got sm_1}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_1", rows = 128,
               keys = 64, workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @fa2_overlap(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: overlap needs 2 stages, since the values of a tile are read beside the scores of the next}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 128,
               keys = 64, workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @fa2_rows_per_warp(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected a multiple of 16 rows per warp, but got 8}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 32,
               keys = 64, workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = false, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @fa2_registers(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected at most 255 registers per thread, but got about 288}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 128,
               keys = 192, workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = false, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @fa2_shared_memory(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected at most 101376 bytes of shared memory, but got 115152}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_86", rows = 128,
               keys = 64, workers = 4, query_stages = 1, stages = 6, registers = [],
               overlap = false, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @target_without_wgmma(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: style fa3 needs wgmma and tma, which sm_80 lacks}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_80", rows = 128,
               keys = 64, workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xf32>
func.func @element_size(%t: !t, %scale: f32) {
  // expected-error @below {{dtype: f32 is not implemented yet}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 64, workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @keys_in_steps(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected keys to be a multiple of 16, but got 40}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 40, workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @rows_of_a_warpgroup(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected 64 rows per warpgroup, but got 32}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 64,
               keys = 64, workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @threads(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected at most 1024 threads per block, but got 1152}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 512,
               keys = 64, workers = 8, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @registers_of_the_block(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected at most 64512 registers per block, but got 66560}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 64, workers = 2, query_stages = 1, stages = 2, registers = [24, 248],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @registers_of_a_role(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected registers from 24 to 256 in steps of 8, but got 20}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 64, workers = 2, query_stages = 1, stages = 2, registers = [20, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @shared_memory(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected at most 232448 bytes of shared memory, but got}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 256, workers = 2, query_stages = 1, stages = 8, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @registers_of_a_thread(%t: !t, %scale: f32) {
  // expected-error @below {{; expected at most 64 registers per consumer thread, but got about}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 64, workers = 2, query_stages = 1, stages = 2, registers = [24, 64],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @stages(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected rows, keys, workers, stages and head dims to be at most 65536, but got 1152921504606846976}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 64, workers = 2, query_stages = 1, stages = 1152921504606846976, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @workers(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected rows, keys, workers, stages and head dims to be at most 65536, but got 9223372036854775744}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 9223372036854775744,
               keys = 64, workers = 144115188075855871, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x1152921504606846976xbf16>
!v = memref<?x?x?x64xbf16>
func.func @head_dim(%t: !t, %v: !v, %scale: f32) {
  // expected-error @below {{head_dim_qk: expected a multiple of 8 from 8 to 256, but got 1152921504606846976}}
  // expected-error @below {{q: expected an extent from 0 to 2147483647 of dimension 3, but got 1152921504606846976}}
  // expected-error @below {{k: expected an extent from 0 to 2147483647 of dimension 3, but got 1152921504606846976}}
  attn.attention query(%t : !t) key(%t : !t) value(%v : !v) scale(%scale)
      outs(%v : !v)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 64, workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x12xbf16>
func.func @columns_of_a_matmul(%t: !t, %scale: f32) {
  // expected-error @below {{head_dim_qk: expected a multiple of 8 from 8 to 256, but got 12}}
  // expected-error @below {{head_dim_vo: expected a multiple of 8 from 8 to 256, but got 12}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 64, workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @copy_rows(%t: !t, %scale: f32) {
  // expected-error @below {{expected at most 256 rows or keys per copy, but got 320}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 320,
               keys = 64, workers = 5, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x40xbf16>
func.func @product_within_a_panel(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected product_columns to be a multiple of 64 up to 256, but got 96}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128, keys = 64,
               workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false, product_columns = 96>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x40xbf16>
func.func @product_wider_than_wgmma(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected product_columns to be a multiple of 64 up to 256, but got 320}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128, keys = 64,
               workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false, product_columns = 320>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x40xbf16>
func.func @indices_of_warpgroups(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected spill_indices = true in style fa3, where registers are given out, but got false}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128, keys = 64,
               workers = 2, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false, spill_indices = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x40xbf16>
func.func @fa2_products(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected neither product_columns nor kept_descriptors in style fa2}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
               workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = false, rescale_threshold = 8, persistent = false,
               descending = false, product_columns = 64>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x40xbf16>
func.func @fa2_descriptors(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected neither product_columns nor kept_descriptors in style fa2}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
               workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = false, rescale_threshold = 8, persistent = false,
               descending = false, kept_descriptors = 6>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x40xbf16>
func.func @repair_uneven_keys(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected repair_keys to be a multiple of 8, but got 12}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
               workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = false, rescale_threshold = 8, persistent = false,
               descending = false, repair_keys = 12>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x40xbf16>
func.func @repair_all_at_once(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected repair_accumulators and repair_keys to be at most 65536, but got 65537}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
               workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = false, rescale_threshold = 8, persistent = false,
               descending = false, repair_accumulators = 65537>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x40xbf16>
func.func @section_past_32_bits(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected section_bytes to be at most 2147483647, but got 2147483648}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
               workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = false, rescale_threshold = 8, persistent = false,
               descending = false, section_bytes = 2147483648>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @consumer_gives_registers_back(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected the producer to have at most, and a consumer at least, the 255 registers of a thread at launch, but got 24 and 240}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 64,
               keys = 48, workers = 1, query_stages = 1, stages = 2, registers = [24, 240],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @producer_wants_more_registers(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected the producer to have at most, and a consumer at least, the 168 registers of a thread at launch, but got 176 and 160}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa3, target = "sm_90a", rows = 128,
               keys = 48, workers = 2, query_stages = 1, stages = 2, registers = [176, 160],
               overlap = true, rescale_threshold = 8, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xf16>
func.func @weights_beyond_f16(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected a rescale_threshold of at most 15, so that weights and their sums stay finite, but got 16}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 128,
               keys = 64, workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = false, rescale_threshold = 16, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xbf16>
func.func @sums_beyond_f32(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: expected a rescale_threshold of at most 32, so that weights and their sums stay finite, but got 33}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = fa2, target = "sm_80", rows = 128,
               keys = 64, workers = 4, query_stages = 1, stages = 1, registers = [],
               overlap = false, rescale_threshold = 33, persistent = false,
               descending = false>)
      maps [#q, #k, #v, #o]
  return
}
