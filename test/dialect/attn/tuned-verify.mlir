// RUN: attn-opt %s -split-input-file -verify-diagnostics

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
                           workers = 4, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 8, persistent = false,
                           descending = false>

// tuned_c1
// expected-error @below {{expected targets to name sm_80, as the schedule does, but got ["sm_86"]}}
attn.tuned targets(["sm_86"]) head_dims(8 to 64) schedule(#schedule) because("it fits")

// -----

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
                           workers = 4, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 8, persistent = false,
                           descending = false>

// tuned_c2
// expected-error @below {{expected head_dims to be a range of positive numbers, but got 64 to 8}}
attn.tuned targets(["sm_80"]) head_dims(64 to 8) schedule(#schedule) because("it fits")

// -----

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
                           workers = 4, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 8, persistent = false,
                           descending = false>

// tuned_c2
// expected-error @below {{expected head_dims to be a range of positive numbers, but got 0 to 8}}
attn.tuned targets(["sm_80"]) head_dims(0 to 8) schedule(#schedule) because("it fits")

// -----

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
                           workers = 4, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 8, persistent = false,
                           descending = false>

// tuned_c2
// expected-error @below {{expected seqlen_k to be a range of positive numbers, but got 512 to 1}}
attn.tuned targets(["sm_80"]) head_dims(8 to 64) seqlen_k(512 to 1) schedule(#schedule) because("it fits")

// -----

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
                           workers = 4, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 8, persistent = false,
                           descending = false>

// tuned_c3
// expected-error @below {{expected blocks to be positive, but got 0}}
attn.tuned targets(["sm_80"]) head_dims(8 to 64) blocks(0) schedule(#schedule) because("it fits")

// -----

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 64,
                           workers = 4, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 8, persistent = false,
                           descending = false>

// tuned_c4
// expected-error @below {{expected a reason, but got an empty one}}
attn.tuned targets(["sm_80"]) head_dims(8 to 64) schedule(#schedule) because("")
