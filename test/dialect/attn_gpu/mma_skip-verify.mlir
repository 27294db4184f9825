// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @mma_skip_c1(%accumulator: vector<16x8xf32>) {
  // expected-error @below {{expected an accumulator of type 'vector<16x16xf32>', but got 'vector<16x8xf32>'}}
  attn_gpu.mma_skip %accumulator : vector<16x8xf32> -> !attn_gpu.inflight<16x16xf32>
  return
}

// -----

func.func @half_precision(%accumulator: vector<16x8xf16>) {
  // expected-error @below {{must be}}
  attn_gpu.mma_skip %accumulator : vector<16x8xf16> -> !attn_gpu.inflight<16x8xf32>
  return
}
