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
