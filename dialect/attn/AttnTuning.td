//===- AttnTuning.td - Rows of a table of schedules --------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_ATTNTUNING_TD
#define ATTN_DIALECT_ATTN_ATTNTUNING_TD

include "dialect/attn/AttnAttrs.td"

def Attn_TunedOp : Op<Attn_Dialect, "tuned"> {
  let summary = "name the schedule to take for some problems";
  let description = [{
    A row of a table of schedules: a module of such ops, from the first row that
    is tried to the last. `attn-select-schedule` takes the first that is meant
    for a problem and fits it; `passes/schedules.mlir` is the table that is
    built in.

    * `schedule`: what the op gets, for whichever of the targets it is.
    * `targets`: where the row may be taken.
    * `head_dims`: from the least to the greatest; the greater one of QK and VO
      counts.
    * `uneven`: whether a mask makes query tiles see different numbers of keys;
      left out, both kinds.
    * `seqlen_k`: from the fewest keys to the most. Such a row is taken only
      where the problem pins the number of keys.
    * `blocks`: blocks that a multiprocessor must have shared memory for.
    * `measured`: the device, and the day.
    * `because`: what was seen there, or why this schedule is expected to do
      well where nobody measured.

    Constraints:
    * (C1) `targets` names the target of the schedule
    * (C2) ranges have a positive start and do not end before it
    * (C3) `blocks` is positive
    * (C4) `because` is not empty

    ```mlir
    attn.tuned targets(["sm_90a"]) head_dims(8 to 64) uneven(true)
        schedule(<style = fa3, target = "sm_90a", rows = 192, keys = 128,
                  workers = 3, query_stages = 2, stages = 2, registers = [32, 160],
                  overlap = true, rescale_threshold = 8, persistent = true,
                  descending = true>)
        measured("H200", "2026-11-30")
        because("2 % ahead of 192 x 96 at 2048 keys")
    ```
  }];
  let arguments = (ins
    StrArrayAttr:$targets,
    I64Attr:$min_head_dim,
    I64Attr:$max_head_dim,
    OptionalAttr<BoolAttr>:$uneven,
    OptionalAttr<I64Attr>:$min_seqlen_k,
    OptionalAttr<I64Attr>:$max_seqlen_k,
    DefaultValuedAttr<I64Attr, "1">:$blocks,
    Attn_ScheduleAttr:$schedule,
    OptionalAttr<StrAttr>:$device,
    OptionalAttr<StrAttr>:$date,
    StrAttr:$reason
  );
  let assemblyFormat = [{
    `targets` `(` $targets `)`
    `head_dims` `(` $min_head_dim `to` $max_head_dim `)`
    (`uneven` `(` $uneven^ `)`)?
    (`seqlen_k` `(` $min_seqlen_k^ `to` $max_seqlen_k `)`)?
    (`blocks` `(` $blocks^ `)`)?
    `schedule` `(` $schedule `)`
    (`measured` `(` $device^ `,` $date `)`)?
    `because` `(` $reason `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_ATTN_ATTNTUNING_TD
