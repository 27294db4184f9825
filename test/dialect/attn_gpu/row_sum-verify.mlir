// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @elements(%partial: vector<16xf16>) {
  // expected-error @below {{operand #0 must be vector of 32-bit float values of ranks 1, but got 'vector<16xf16>'}}
  attn_gpu.row_sum %partial : vector<16xf16>
  return
}

// -----

func.func @rank(%partial: vector<16x8xf32>) {
  // expected-error @below {{operand #0 must be vector of 32-bit float values of ranks 1, but got 'vector<16x8xf32>'}}
  attn_gpu.row_sum %partial : vector<16x8xf32>
  return
}
