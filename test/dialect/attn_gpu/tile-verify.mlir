// RUN: attn-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected rows and columns, but got 1 extents}}
func.func private @rank_1(!attn_gpu.tile<64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>)

// -----

// expected-error @below {{expected rows and columns, but got 0 extents}}
func.func private @rank_0(!attn_gpu.tile<bf16, #attn_gpu.panels<rows = 16, swizzle = 128>>)

// -----

// expected-error @below {{expected positive extents, but got 0}}
func.func private @no_columns(!attn_gpu.tile<16x0xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>)

// -----

// expected-error @below {{expected static shape}}
func.func private @dynamic(!attn_gpu.tile<?x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>)

// -----

// expected-error @below {{expected float elements of 8, 16 or 32 bits, but got 'i16'}}
func.func private @integers(!attn_gpu.tile<16x64xi16, #attn_gpu.panels<rows = 16, swizzle = 128>>)

// -----

// expected-error @below {{expected float elements of 8, 16 or 32 bits, but got 'f64'}}
func.func private @wide_elements(!attn_gpu.tile<16x64xf64, #attn_gpu.panels<rows = 16, swizzle = 128>>)

// -----

// expected-error @below {{expected at most the 16 rows of the layout, but got 24}}
func.func private @rows_of_layout(!attn_gpu.tile<24x64xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>)
