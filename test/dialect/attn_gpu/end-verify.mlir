// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @outside_specialize() {
  // expected-error @below {{expects parent op 'attn_gpu.specialize'}}
  attn_gpu.end
}
