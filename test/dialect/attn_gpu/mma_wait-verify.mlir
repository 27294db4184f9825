// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @negative_pending(%value: !attn_gpu.inflight<16x8xf32>) {
  // expected-error @below {{attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  attn_gpu.mma_wait %value pending(-1) : !attn_gpu.inflight<16x8xf32>
  return
}

// -----

// What is in flight has no other use than to be waited for.
func.func @read_in_flight(%value: !attn_gpu.inflight<16x8xf32>) {
  // expected-error @below {{op operand #0 must be floating-point-like, but got '!attn_gpu.inflight<16x8xf32>'}}
  "arith.negf"(%value) : (!attn_gpu.inflight<16x8xf32>) -> !attn_gpu.inflight<16x8xf32>
  return
}
