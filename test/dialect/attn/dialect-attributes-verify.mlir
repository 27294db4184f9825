// RUN: attn-opt %s -split-input-file -verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{attn.schedule: expected an #attn.schedule, but got 3}}
  gpu.func @type() kernel attributes {attn.schedule = 3 : i64} {
    gpu.return
  }
}

// -----

// expected-error @below {{attn.schedule: expected a function}}
module attributes {attn.schedule = #attn.schedule<style = host, target = "host", rows = 32, keys = 32,
    workers = 1, query_stages = 1, stages = 1, registers = [], overlap = false, rescale_threshold = 0,
    persistent = false, descending = false>} {
}
