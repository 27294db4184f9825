// RUN: attn-opt %s -split-input-file -verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{attn_gpu.warps_per_worker: expected a positive number of warps, but got 0}}
  gpu.func @warps() kernel attributes {attn_gpu.warps_per_worker = 0 : i64} {
    gpu.return
  }
}

// -----

// expected-error @below {{attn_gpu.warps_per_worker: expected a function}}
module attributes {attn_gpu.warps_per_worker = 4 : i64} {
}

// -----

// expected-error @below {{attn_gpu.shared_bytes: expected a number of bytes, but got "many"}}
func.func @bytes() attributes {attn_gpu.shared_bytes = "many"} {
  return
}

// -----

// expected-error @below {{attn_gpu.formula: expected a formula, but got 7}}
func.func @formula(%n: index {attn_gpu.formula = 7 : i64}) {
  return
}

// -----

// expected-error @below {{attn_gpu.map_of: expected the number of an argument, but got "q"}}
func.func @map(%n: index {attn_gpu.map_of = "q"}) {
  return
}
