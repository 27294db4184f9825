// RUN: attn-opt %s --attn-select-schedule=target=host -split-input-file -verify-diagnostics | FileCheck %s

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xf64>

// CHECK-LABEL: @select
// CHECK: schedule(<style = host, target = "host", rows = {{[0-9]+}}, keys = {{[0-9]+}}, workers = 1
func.func @select(%t: !t, %scale: f64) {
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t) maps [#q, #k, #v, #o]
  return
}

// Any tile will do.
// CHECK-LABEL: @keep
// CHECK: schedule(<style = host, target = "host", rows = 10, keys = 7, workers = 2
func.func @keep(%t: !t, %scale: f64) {
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = host, target = "host", rows = 10, keys = 7, workers = 2,
               query_stages = 1, stages = 1, registers = [], overlap = false,
               rescale_threshold = 0, persistent = false, descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xf16>
func.func @other_target(%t: !t, %scale: f32) {
  // expected-error @below {{schedule does not fit: style host needs target host, but got sm_90a}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = host, target = "sm_90a", rows = 16, keys = 16, workers = 1,
               query_stages = 1, stages = 1, registers = [], overlap = false,
               rescale_threshold = 0, persistent = false, descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xf64>
func.func @too_large(%t: !t, %scale: f64) {
  // expected-error @below {{schedule does not fit: expected at most 512 rows and keys, but got 1024}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = host, target = "host", rows = 16, keys = 1024, workers = 1,
               query_stages = 1, stages = 1, registers = [], overlap = false,
               rescale_threshold = 0, persistent = false, descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xf64>
func.func @of_a_gpu(%t: !t, %scale: f64) {
  // expected-error @below {{schedule does not fit: expected one stage each, no registers, overlap or rescale threshold, and neither persistent nor descending, in style host}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = host, target = "host", rows = 16, keys = 16, workers = 1,
               query_stages = 1, stages = 2, registers = [], overlap = false,
               rescale_threshold = 0, persistent = false, descending = false>)
      maps [#q, #k, #v, #o]
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
!t = memref<?x?x?x64xf64>
func.func @field_of_kernels(%t: !t, %scale: f64) {
  // expected-error @below {{schedule does not fit: expected no field with a default to have another value in style host}}
  attn.attention query(%t : !t) key(%t : !t) value(%t : !t) scale(%scale)
      outs(%t : !t)
      schedule(#attn.schedule<style = host, target = "host", rows = 16, keys = 16, workers = 1,
               query_stages = 1, stages = 1, registers = [], overlap = false,
               rescale_threshold = 0, persistent = false, descending = false, unroll = true>)
      maps [#q, #k, #v, #o]
  return
}
