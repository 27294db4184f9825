// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func private @positive_rows() attributes {
  // expected-error @below {{expected rows, keys, workers, query_stages and stages to be positive, but got 0, 80, 3, 1 and 2}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 0, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true>
}

// -----

func.func private @positive_query_stages() attributes {
  // expected-error @below {{expected rows, keys, workers, query_stages and stages to be positive, but got 192, 80, 3, 0 and 2}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 0, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true>
}

// -----

func.func private @positive_stages() attributes {
  // expected-error @below {{expected rows, keys, workers, query_stages and stages to be positive, but got 192, 80, 3, 1 and -1}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = -1, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true>
}

// -----

func.func private @even_rows() attributes {
  // expected-error @below {{expected workers to divide rows, but got 5 and 192}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 5, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true>
}

// -----

func.func private @registers_of_both_roles() attributes {
  // expected-error @below {{expected registers of producer and consumer, but got 1 numbers}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true>
}

// -----

func.func private @registers_without_roles() attributes {
  // expected-error @below {{expected no registers outside style fa3, but got 2 numbers}}
  s = #attn.schedule<style = fa2, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true>
}

// -----

func.func private @threshold() attributes {
  // expected-error @below {{expected rescale_threshold to be at least 0, but got -1}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = -1,
                     persistent = false, descending = true>
}

// -----

func.func private @unknown_style() attributes {
  // expected-error @below {{failed to parse Attn_ScheduleAttr parameter 'style'}}
  // expected-error @below {{expected ::mlir::attn::Style to be one of: host, fa2, fa3}}
  s = #attn.schedule<style = fa9, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true>
}

// -----

func.func private @positive_shared_loop_columns() attributes {
  // expected-error @below {{expected shared_loop_columns to be positive, but got 0}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true, shared_loop_columns = 0>
}

// -----

func.func private @positive_section_bytes() attributes {
  // expected-error @below {{expected section_bytes to be positive, but got 0}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true, section_bytes = 0>
}

// -----

func.func private @positive_repair_accumulators() attributes {
  // expected-error @below {{expected repair_accumulators to be positive, but got 0}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true, repair_accumulators = 0>
}

// -----

func.func private @positive_repair_keys() attributes {
  // expected-error @below {{expected repair_keys to be positive, but got 0}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true, repair_keys = 0>
}

// -----

func.func private @positive_product_columns() attributes {
  // expected-error @below {{expected product_columns to be positive, but got 0}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true, product_columns = 0>
}

// -----

func.func private @positive_kept_descriptors() attributes {
  // expected-error @below {{expected kept_descriptors to be positive, but got 0}}
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true, kept_descriptors = 0>
}

// -----

func.func private @unknown_field() attributes {
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     // expected-error @below {{duplicate or unknown struct parameter name: speed}}
                     descending = true, speed = 9>
}
