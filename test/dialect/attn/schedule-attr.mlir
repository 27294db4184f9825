// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK-LABEL: @fa3
// CHECK-SAME: style = fa3
// CHECK-SAME: registers = [32, 160]
func.func private @fa3() attributes {
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true>
}

// CHECK-LABEL: @fa2
// CHECK-SAME: style = fa2
// CHECK-SAME: registers = []
func.func private @fa2() attributes {
  s = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
                     workers = 4, query_stages = 1, stages = 1, registers = [], overlap = false,
                     rescale_threshold = 0, persistent = true,
                     descending = false>
}

// A field with a default is not printed where it has it.
// CHECK-LABEL: @defaults
// CHECK-SAME: descending = false>
func.func private @defaults() attributes {
  s = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
                     workers = 4, query_stages = 1, stages = 1, registers = [], overlap = false,
                     rescale_threshold = 0, persistent = true, descending = false,
                     shared_loop_columns = 136, section_bytes = 33554432,
                     repair_accumulators = 32, repair_keys = 16,
                     product_columns = 128, spill_indices = true, unroll = false,
                     reduce_strength = false>
}

// CHECK-LABEL: @every_field
// CHECK-SAME: descending = true, shared_loop_columns = 1, section_bytes = 2, repair_accumulators = 3, repair_keys = 5, product_columns = 6, kept_descriptors = 7, spill_indices = false, unroll = true, reduce_strength = true>
func.func private @every_field() attributes {
  s = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                     workers = 3, query_stages = 1, stages = 2, registers = [32, 160],
                     overlap = true, rescale_threshold = 8, persistent = false,
                     descending = true, shared_loop_columns = 1, section_bytes = 2,
                     repair_accumulators = 3, repair_keys = 5,
                     product_columns = 6, kept_descriptors = 7, spill_indices = false,
                     unroll = true, reduce_strength = true>
}
