// RUN: attn-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected f32 elements, but got 'bf16'}}
func.func private @elements(!attn_gpu.inflight<16x8xbf16>)

// -----

// expected-error @below {{expected rows and columns, but got 1 extents}}
func.func private @rank(!attn_gpu.inflight<8xf32>)

// -----

// expected-error @below {{expected positive extents, but got 0}}
func.func private @extents(!attn_gpu.inflight<0x8xf32>)
