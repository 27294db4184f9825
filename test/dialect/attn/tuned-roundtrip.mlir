// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s | FileCheck %s

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
                           workers = 4, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 8, persistent = false,
                           descending = false>

// CHECK: attn.tuned targets(["sm_80"]) head_dims(8 to 64) schedule(<style = fa2,
// CHECK-SAME: descending = false>) because("from shared memory alone")
attn.tuned targets(["sm_80"]) head_dims(8 to 64) schedule(#schedule)
    because("from shared memory alone")

// CHECK: attn.tuned targets(["sm_86", "sm_80"]) head_dims(8 to 8) uneven(false) seqlen_k(1 to 512) blocks(2) schedule(
// CHECK-SAME: measured("A100", "2026-11-30") because("1 TFLOP/s")
attn.tuned targets(["sm_86", "sm_80"]) head_dims(8 to 8) uneven(false)
    seqlen_k(1 to 512) blocks(2) schedule(#schedule)
    measured("A100", "2026-11-30") because("1 TFLOP/s")
