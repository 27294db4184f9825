// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @softmax_weights_c1(%s: vector<16x8xf32>, %m: vector<8xf32>, %c: f32) {
  // expected-error @below {{expected one reference per row, but got 8 for 16 rows}}
  attn.softmax_weights %s relative(%m) factor(%c) : vector<16x8xf32>, vector<8xf32>
  return
}

// -----

func.func @one_element_type(%s: vector<16x8xf32>, %m: vector<16xf64>, %c: f32) {
  // expected-error @below {{failed to verify that all of {scores, reference} have same element type}}
  attn.softmax_weights %s relative(%m) factor(%c) : vector<16x8xf32>, vector<16xf64>
  return
}

// -----

func.func @no_weights_in_16_bits(%s: vector<16x8xbf16>, %m: vector<16xbf16>, %c: bf16) {
  // expected-error @below {{'scores' must be vector of 32-bit float or 64-bit float values of ranks 1/2, but got 'vector<16x8xbf16>'}}
  attn.softmax_weights %s relative(%m) factor(%c) : vector<16x8xbf16>, vector<16xbf16>
  return
}
