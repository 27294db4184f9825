// The schedules that are tried, from the first row to the last: the first that is
// meant for a problem and fits it is taken. `attn.tuned` (dialect/attn) explains the
// parts of a row; `--schedules FILE` of attnc takes another table.
//
// TFLOP/s: bf16, 16384 tokens, hidden size 2048, from 512 to 16384 keys, by
// `test/device/compare.py`; README.md has the machine, the hour and each cell.
// Ratios to FA3 and to other schedules: the same problems, one process, random order,
// cold L2. What was not measured says so.

//===----------------------------------------------------------------------===//
// Style fa3
//===----------------------------------------------------------------------===//
//
// Three consumers feed more rows from every byte of K and V, as long as the
// accumulators leave room in their 160 registers. Up to head dim 96 a second tile
// of Q hides the change from one tile to the next; at 128 the memory is better
// spent on rings of 4 slots, which let consumers drift apart (10 % at 2048 keys).
// Rings of 3 cost a division (5 %).
//
// Registers of producer and consumers are together what the block starts with:
// 65536 / threads, rounded down to 8. A maximum that grows by no more than 8 in log2
// units rescales nothing: weights stay below 2^8, far from the largest f16.

attn.tuned targets(["sm_90a"]) head_dims(1 to 64) uneven(false)
    schedule(<style = fa3, target = "sm_90a", rows = 192, keys = 128, workers = 3,
              query_stages = 2, stages = 2, registers = [32, 160], overlap = true,
              rescale_threshold = 8, persistent = true, descending = false>)
    measured("H200", "2026-11-30")
    because("head dim 64: 386 to 537 TFLOP/s, 0.92 to 1.16 of FA3; the best of 11 schedules up to 2048 keys, not persistent 0.03 and 0.08 better at 4096 and 16384")

attn.tuned targets(["sm_90a"]) head_dims(1 to 64) uneven(true)
    schedule(<style = fa3, target = "sm_90a", rows = 192, keys = 128, workers = 3,
              query_stages = 2, stages = 2, registers = [32, 160], overlap = true,
              rescale_threshold = 8, persistent = true, descending = true>)
    measured("H200", "2026-11-30")
    because("head dim 64: 243 to 527 TFLOP/s, 0.93 to 1.09 of FA3; the best of 16 schedules at 512 and 2048 keys, 192 x 96 0.01 better at 1024, not persistent 0.07 better at 16384")

attn.tuned targets(["sm_90a"]) head_dims(1 to 96) uneven(false)
    schedule(<style = fa3, target = "sm_90a", rows = 192, keys = 96, workers = 3,
              query_stages = 2, stages = 2, registers = [32, 160], overlap = true,
              rescale_threshold = 8, persistent = true, descending = false>)
    because("not measured at head dims 72 to 96: the tile of head dim 64 with fewer keys, so that three consumers have registers for it")

attn.tuned targets(["sm_90a"]) head_dims(1 to 96) uneven(true)
    schedule(<style = fa3, target = "sm_90a", rows = 192, keys = 96, workers = 3,
              query_stages = 2, stages = 2, registers = [32, 160], overlap = true,
              rescale_threshold = 8, persistent = true, descending = true>)
    because("not measured at head dims 72 to 96: the tile of head dim 64 with fewer keys, so that three consumers have registers for it")

attn.tuned targets(["sm_90a"]) head_dims(1 to 128) uneven(false)
    schedule(<style = fa3, target = "sm_90a", rows = 192, keys = 80, workers = 3,
              query_stages = 1, stages = 4, registers = [32, 160], overlap = true,
              rescale_threshold = 8, persistent = true, descending = false>)
    measured("H200", "2026-11-30")
    because("head dim 128: 487 to 725 TFLOP/s, 0.96 to 1.03 of FA3; the best of 11 schedules or 0.01 behind it")

attn.tuned targets(["sm_90a"]) head_dims(1 to 128) uneven(true)
    schedule(<style = fa3, target = "sm_90a", rows = 192, keys = 80, workers = 3,
              query_stages = 1, stages = 4, registers = [32, 160], overlap = true,
              rescale_threshold = 8, persistent = true, descending = true>)
    measured("H200", "2026-11-30")
    because("head dim 128: 298 to 671 TFLOP/s, 0.87 to 0.94 of FA3; the best of 16 schedules up to 2048 keys, not persistent 0.02 and 0.11 better at 4096 and 16384")

attn.tuned targets(["sm_90a"]) head_dims(1 to 128) uneven(false)
    schedule(<style = fa3, target = "sm_90a", rows = 128, keys = 128, workers = 2,
              query_stages = 1, stages = 2, registers = [24, 240], overlap = true,
              rescale_threshold = 8, persistent = true, descending = false>)
    measured("H200", "2026-11-30")
    because("for what the row of three consumers does not fit; head dim 128: 0.92 to 0.97 of FA3, 0.01 ahead of that row at 512 keys, else 0.03 to 0.08 behind")

attn.tuned targets(["sm_90a"]) head_dims(1 to 128) uneven(true)
    schedule(<style = fa3, target = "sm_90a", rows = 128, keys = 128, workers = 2,
              query_stages = 1, stages = 2, registers = [24, 240], overlap = true,
              rescale_threshold = 8, persistent = false, descending = true>)
    measured("H200", "2026-11-30")
    because("for what the row of three consumers does not fit; head dim 128: 0.84, 0.89 and 0.93 of FA3 at 2048, 4096 and 16384 keys")

attn.tuned targets(["sm_90a"]) head_dims(1 to 192) uneven(false)
    schedule(<style = fa3, target = "sm_90a", rows = 128, keys = 96, workers = 2,
              query_stages = 1, stages = 2, registers = [24, 240], overlap = true,
              rescale_threshold = 8, persistent = true, descending = false>)
    because("not measured beside other schedules at head dims 136 to 192: the most keys that fit in shared memory with two stages")

attn.tuned targets(["sm_90a"]) head_dims(1 to 192) uneven(true)
    schedule(<style = fa3, target = "sm_90a", rows = 128, keys = 96, workers = 2,
              query_stages = 1, stages = 2, registers = [24, 240], overlap = true,
              rescale_threshold = 8, persistent = false, descending = true>)
    because("not measured beside other schedules at head dims 136 to 192: the most keys that fit in shared memory with two stages; not persistent, as at 256")

attn.tuned targets(["sm_90a"]) head_dims(1 to 256) uneven(false)
    schedule(<style = fa3, target = "sm_90a", rows = 128, keys = 80, workers = 2,
              query_stages = 1, stages = 2, registers = [24, 240], overlap = true,
              rescale_threshold = 8, persistent = true, descending = false>)
    measured("H200", "2026-11-30")
    because("head dim 256: 529 to 786 TFLOP/s, 1.01 to 1.02 of FA3; the best of 5 schedules from 1024 keys on, 128 x 64 0.03 better at 512")

attn.tuned targets(["sm_90a"]) head_dims(1 to 256) uneven(true)
    schedule(<style = fa3, target = "sm_90a", rows = 128, keys = 80, workers = 2,
              query_stages = 1, stages = 2, registers = [24, 240], overlap = true,
              rescale_threshold = 8, persistent = false, descending = true>)
    measured("H200", "2026-11-30")
    because("head dim 256: 295 to 798 TFLOP/s, 0.86 to 0.98 of FA3; the best of 7 schedules from 2048 keys on, 128 x 64 0.02 better at 1024; persistent 0.60 to 0.70 of FA3 from 1024 on")

attn.tuned targets(["sm_90a"]) head_dims(1 to 256) uneven(false)
    schedule(<style = fa3, target = "sm_90a", rows = 128, keys = 64, workers = 2,
              query_stages = 1, stages = 2, registers = [24, 240], overlap = true,
              rescale_threshold = 8, persistent = true, descending = false>)
    measured("H200", "2026-11-30")
    because("for what the row of 80 keys does not fit; head dim 256: 0.98 to 1.04 of FA3")

attn.tuned targets(["sm_90a"]) head_dims(1 to 256) uneven(true)
    schedule(<style = fa3, target = "sm_90a", rows = 128, keys = 64, workers = 2,
              query_stages = 1, stages = 2, registers = [24, 240], overlap = true,
              rescale_threshold = 8, persistent = false, descending = true>)
    measured("H200", "2026-11-30")
    because("for what the row of 80 keys does not fit; head dim 256: 0.90 to 0.94 of FA3")

//===----------------------------------------------------------------------===//
// Style fa2
//===----------------------------------------------------------------------===//
//
// Four warps, one for each scheduler of a multiprocessor, leave a thread all the
// registers it can name, and a second block computes while the first waits. 32 rows a
// warp read K and V from shared memory half as often as 16, as long as their
// accumulators fit. Measured with sm_80's code on an H200, not on an A100, A10 or
// L40S: there, what fits in shared memory decides.

attn.tuned targets(["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]) head_dims(1 to 64) uneven(false) blocks(2)
    schedule(<style = fa2, target = "sm_80", rows = 128, keys = 64, workers = 4,
              query_stages = 1, stages = 2, registers = [], overlap = true,
              rescale_threshold = 8, persistent = false, descending = false>)
    measured("H200", "2026-11-30")
    because("head dim 64, sm_80: 268 to 320 TFLOP/s, 1.01 to 1.05 of FA2; the overlap gives 12 %")

attn.tuned targets(["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]) head_dims(1 to 64) uneven(true) blocks(2)
    schedule(<style = fa2, target = "sm_80", rows = 128, keys = 64, workers = 4,
              query_stages = 1, stages = 2, registers = [], overlap = true,
              rescale_threshold = 8, persistent = false, descending = true>)
    measured("H200", "2026-11-30")
    because("head dim 64, sm_80: 183 to 329 TFLOP/s, 1.06 to 1.19 of FA2; the overlap gives 12 %")

attn.tuned targets(["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]) head_dims(1 to 128) uneven(false) blocks(2)
    schedule(<style = fa2, target = "sm_80", rows = 128, keys = 64, workers = 4,
              query_stages = 1, stages = 1, registers = [], overlap = false,
              rescale_threshold = 8, persistent = false, descending = false>)
    measured("H200", "2026-11-30")
    because("head dim 128, sm_80: 313 to 389 TFLOP/s, 1.06 to 1.16 of FA2; 16 % over 32 keys, and registers of an overlap do not fit beside 64 keys")

attn.tuned targets(["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]) head_dims(1 to 128) uneven(true) blocks(2)
    schedule(<style = fa2, target = "sm_80", rows = 128, keys = 64, workers = 4,
              query_stages = 1, stages = 1, registers = [], overlap = false,
              rescale_threshold = 8, persistent = false, descending = true>)
    measured("H200", "2026-11-30")
    because("head dim 128, sm_80: 228 to 398 TFLOP/s, 1.18 to 1.26 of FA2; 16 % over 32 keys, and registers of an overlap do not fit beside 64 keys")

attn.tuned targets(["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]) head_dims(1 to 128) uneven(false) blocks(2)
    schedule(<style = fa2, target = "sm_80", rows = 128, keys = 32, workers = 4,
              query_stages = 1, stages = 1, registers = [], overlap = false,
              rescale_threshold = 8, persistent = false, descending = false>)
    because("not measured: from shared memory alone, for targets that hold two blocks of 32 keys but not of 64")

attn.tuned targets(["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]) head_dims(1 to 128) uneven(true) blocks(2)
    schedule(<style = fa2, target = "sm_80", rows = 128, keys = 32, workers = 4,
              query_stages = 1, stages = 1, registers = [], overlap = false,
              rescale_threshold = 8, persistent = false, descending = true>)
    because("not measured: from shared memory alone, for targets that hold two blocks of 32 keys but not of 64")

attn.tuned targets(["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]) head_dims(1 to 256) uneven(false)
    schedule(<style = fa2, target = "sm_80", rows = 64, keys = 64, workers = 4,
              query_stages = 1, stages = 1, registers = [], overlap = false,
              rescale_threshold = 8, persistent = false, descending = false>)
    measured("H200", "2026-11-30")
    because("head dim 256, sm_80: 289 to 340 TFLOP/s, 1.02 to 1.09 of FA2")

attn.tuned targets(["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]) head_dims(1 to 256) uneven(true)
    schedule(<style = fa2, target = "sm_80", rows = 64, keys = 64, workers = 4,
              query_stages = 1, stages = 1, registers = [], overlap = false,
              rescale_threshold = 8, persistent = false, descending = true>)
    measured("H200", "2026-11-30")
    because("head dim 256, sm_80: 223 to 344 TFLOP/s, 1.08 to 1.22 of FA2")

//===----------------------------------------------------------------------===//
// Style host
//===----------------------------------------------------------------------===//
//
// Rows share what turning a tile of K around costs; keys are the lanes of a row's
// vectors.

attn.tuned targets(["host"]) head_dims(1 to 65536)
    schedule(<style = host, target = "host", rows = 32, keys = 32, workers = 1,
              query_stages = 1, stages = 1, registers = [], overlap = false,
              rescale_threshold = 0, persistent = false, descending = false>)
    because("not measured: any tile gives the same result up to rounding")
