// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @band_c1(%n: index) {
  // expected-error @below {{expected no operands of mask #attn.causal<top_left>, but got 1}}
  attn.band rows(%n) of(%n, %n) lengths(%n, %n) mask(#attn.causal<top_left> with %n : index) : vector<16xindex>
  return
}

// -----

func.func @operands_without_a_mask(%n: index) {
  // expected-error @below {{expected no operands without a mask, but got 1}}
  "attn.band"(%n, %n, %n, %n, %n, %n) : (index, index, index, index, index, index) -> (vector<16xindex>, vector<16xindex>)
  return
}

// -----

func.func @a_mask_that_is_none(%n: index) {
  // expected-error @below {{Invalid attribute `mask` in property conversion: 1 : i64}}
  "attn.band"(%n, %n, %n, %n, %n) <{mask = 1 : i64}> : (index, index, index, index, index) -> (vector<16xindex>, vector<16xindex>)
  return
}

// -----

func.func @ends_are_positions(%n: index) {
  // expected-error @below {{result #0 must be vector of index values of ranks 1, but got 'vector<16xi32>'}}
  attn.band rows(%n) of(%n, %n) lengths(%n, %n) : vector<16xi32>
  return
}
