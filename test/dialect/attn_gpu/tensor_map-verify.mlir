// RUN: attn-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected a box of at least 1 extent}}
func.func private @no_extent(!attn_gpu.tensor_map<bf16, swizzle = 128>)

// -----

// expected-error @below {{expected positive extents, but got 0}}
func.func private @extents(!attn_gpu.tensor_map<0x64xbf16, swizzle = 128>)

// -----

// expected-error @below {{expected float elements of 8, 16 or 32 bits, but got 'index'}}
func.func private @elements(!attn_gpu.tensor_map<16x64xindex, swizzle = 128>)

// -----

// expected-error @below {{expected a swizzle of 32, 64 or 128 bytes, but got 256}}
func.func private @swizzle(!attn_gpu.tensor_map<16x128xbf16, swizzle = 256>)

// -----

// expected-error @below {{expected a box of one panel, 64 columns, but got 32}}
func.func private @one_panel(!attn_gpu.tensor_map<16x32xbf16, swizzle = 128>)
