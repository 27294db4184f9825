// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @specialize_c1_few() {
  // expected-error @below {{expected registers to be a multiple of 8 from 24 to 256, but got 16}}
  attn_gpu.specialize producer(16) {
  } consumers(2, 240) {
  }
  return
}

// -----

func.func @specialize_c1_many() {
  // expected-error @below {{expected registers to be a multiple of 8 from 24 to 256, but got 264}}
  attn_gpu.specialize producer(24) {
  } consumers(2, 264) {
  }
  return
}

// -----

func.func @specialize_c1_steps() {
  // expected-error @below {{expected registers to be a multiple of 8 from 24 to 256, but got 100}}
  attn_gpu.specialize producer(24) {
  } consumers(2, 100) {
  }
  return
}

// -----

func.func @no_consumer() {
  // expected-error @below {{attribute 'num_consumers' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  attn_gpu.specialize producer(24) {
  } consumers(0, 240) {
  }
  return
}
