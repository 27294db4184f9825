// RUN: attn-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected a swizzle of 32, 64 or 128 bytes, but got 16}}
func.func private @swizzle() attributes {a = #attn_gpu.panels<rows = 64, swizzle = 16>}

// -----

// expected-error @below {{expected rows to be a positive multiple of 8, but got 12}}
func.func private @groups_of_rows() attributes {a = #attn_gpu.panels<rows = 12, swizzle = 128>}

// -----

// expected-error @below {{expected rows to be a positive multiple of 8, but got 0}}
func.func private @no_rows() attributes {a = #attn_gpu.panels<rows = 0, swizzle = 128>}
