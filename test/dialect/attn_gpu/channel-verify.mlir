// RUN: attn-opt %s -split-input-file -verify-diagnostics

!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @no_consumer() {
  // expected-error @below {{attribute 'consumers' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  attn_gpu.channel consumers(0) : !channel
  return
}

// -----

!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
func.func @channel_c1(%begin: index, %end: index, %step: index) {
  scf.for %i = %begin to %end step %step {
    // expected-error @below {{expected to be at the top level of a function}}
    attn_gpu.channel consumers(1) : !channel
  }
  return
}

// -----

// expected-error @below {{expected at least 1 stage, but got 0}}
func.func private @stages(!attn_gpu.channel<16x64xbf16, stages = 0, #attn_gpu.panels<rows = 16, swizzle = 128>>)

// -----

// expected-error @below {{expected rows and columns, but got 3 extents}}
func.func private @rank(!attn_gpu.channel<2x16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>)

// -----

// expected-error @below {{expected at most the 16 rows of the layout, but got 32}}
func.func private @rows_of_layout(!attn_gpu.channel<32x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>)
