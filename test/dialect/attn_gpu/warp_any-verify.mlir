// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @one_per_row(%condition: vector<16x8xi1>) {
  // expected-error @below {{operand #0 must be vector of 1-bit signless integer values of ranks 1, but got 'vector<16x8xi1>'}}
  attn_gpu.warp_any %condition : vector<16x8xi1>
  return
}

// -----

func.func @condition(%condition: vector<16xi8>) {
  // expected-error @below {{operand #0 must be vector of 1-bit signless integer values of ranks 1, but got 'vector<16xi8>'}}
  attn_gpu.warp_any %condition : vector<16xi8>
  return
}
