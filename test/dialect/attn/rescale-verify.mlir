// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @rescale_c1(%o: vector<8x16xf32>, %m: vector<16xf32>, %c: f32) {
  // expected-error @below {{expected one reference per row, but got 16 for 8 rows}}
  attn.rescale %o from(%m) to(%m) factor(%c) : vector<8x16xf32> by vector<16xf32>
  return
}

// -----

func.func @results_as_sums(%l: vector<16xf32>, %c: f32) {
  // expected-error @below {{failed to verify that results have the types of the sums}}
  "attn.rescale"(%l, %l, %l, %c) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, f32) -> vector<16x8xf32>
  return
}

// -----

func.func @one_factor(%l: vector<16xf32>, %c: f64) {
  // expected-error @below {{failed to verify that factor has the element type of the references}}
  "attn.rescale"(%l, %l, %l, %c) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, f64) -> vector<16xf32>
  return
}
