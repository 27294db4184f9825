// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @mask_band_c1(%scores: vector<16x8xf32>, %key: index, %bound: vector<8xindex>) {
  // expected-error @below {{expected one bound per row of scores, but got 8 bounds for 16 rows}}
  attn.mask_band %scores at(%key) [%bound, %bound] : vector<16x8xf32>, vector<8xindex>
  return
}

// -----

func.func @scores_of_rank_2(%scores: vector<16xf32>, %key: index, %bound: vector<16xindex>) {
  // expected-error @below {{operand #0 must be vector of floating-point values of ranks 2, but got 'vector<16xf32>'}}
  attn.mask_band %scores at(%key) [%bound, %bound] : vector<16xf32>, vector<16xindex>
  return
}

// -----

func.func @bounds_are_positions(%scores: vector<16x8xf32>, %key: index, %bound: vector<16xi32>) {
  // expected-error @below {{operand #2 must be vector of index values of ranks 1, but got 'vector<16xi32>'}}
  attn.mask_band %scores at(%key) [%bound, %bound] : vector<16x8xf32>, vector<16xi32>
  return
}
