// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @c1(%p: vector<16x8xf32>) {
  // expected-error @below {{(C1) expected one entry per row of the source, 16, but got 8}}
  attn_gpu.partial_sum %p : vector<16x8xf32> -> vector<8xf32>
  return
}

// -----

func.func @elements(%p: vector<16x8xf16>) {
  // expected-error @below {{operand #0 must be vector of 32-bit float values of ranks 2, but got 'vector<16x8xf16>'}}
  attn_gpu.partial_sum %p : vector<16x8xf16> -> vector<16xf32>
  return
}
