//===- AttnAttrs.td - Masks and the schedule ---------------*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_ATTNATTRS_TD
#define ATTN_DIALECT_ATTN_ATTNATTRS_TD

include "dialect/attn/AttnDialect.td"
include "dialect/attn/AttnInterfaces.td"
include "mlir/IR/EnumAttr.td"

class Attn_Attr<string name, string mnemonicText, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = mnemonicText;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

def Attn_Alignment : I32EnumAttr<"Alignment", "which corner a diagonal runs through", [
    I32EnumAttrCase<"TopLeft", 0, "top_left">,
    I32EnumAttrCase<"BottomRight", 1, "bottom_right">]> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}

def Attn_CausalAttr : Attn_Attr<"Causal", "causal", [
    DeclareAttrInterfaceMethods<Attn_BandMaskInterface>]> {
  let summary = "a query sees the keys up to its own position";
  let description = [{
    Query row `i` sees key `j` if and only if `j <= i + o`, where `o` is 0 for
    `top_left` and `seqlen_k - seqlen_q` for `bottom_right`. The alignment has
    no default: libraries disagree on it, so a program has to say it.

    ```mlir
    #attn.causal<bottom_right>
    ```
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment);
  let assemblyFormat = "`<` $alignment `>`";
}

def Attn_WindowAttr : Attn_Attr<"Window", "window", [
    DeclareAttrInterfaceMethods<Attn_BandMaskInterface, [
      "verifyOperands", "getOperandNames", "dependsOnRow", "hasUnevenTiles"]>]> {
  let summary = "a query sees the keys near its own position";
  let description = [{
    Query row `i` sees key `j` if and only if
    `i + o - left <= j <= i + o + right`, with `o` as for `#attn.causal`. The
    widths that `left` and `right` stand for are operands of the mask, of type
    index, which a launch knows; a negative one is unbounded. Without its word
    an end is open, and costs nothing.

    ```mlir
    #attn.window<bottom_right, left, right>
    ```
  }];
  let parameters = (ins EnumParameter<Attn_Alignment>:$alignment,
                        DefaultValuedParameter<"bool", "false">:$left,
                        DefaultValuedParameter<"bool", "false">:$right);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

def Attn_Style : I32EnumAttr<"Style", "the family of kernels a schedule belongs to", [
    I32EnumAttrCase<"Host", 0, "host">,
    I32EnumAttrCase<"FA2", 1, "fa2">,
    I32EnumAttrCase<"FA3", 2, "fa3">]> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "every decision about one kernel, made once";
  let description = [{
    Stamped on `attn.attention` by `attn-select-schedule`, or by a user, whose
    word wins. Every later pass reads it and none decides again.

    * `style`: `fa3` for `wgmma`, TMA and warp specialisation, `fa2` for
      `mma.sync` and `cp.async`, `host` for the CPU.
    * `target`: the target the limits were taken from, e.g. `sm_90a`.
    * `rows`, `keys`: query rows and keys of a block's tile.
    * `workers`: how many groups of threads share the rows evenly (consumer
      warpgroups in `fa3`, warps in `fa2`, 1 on the host).
    * `query_stages`: tiles of Q in shared memory: with 2, the next one arrives
      while this one is worked on.
    * `stages`: tiles of K, and of V, in flight in shared memory.
    * `registers`: of a thread of the producer and of a consumer (`fa3`); empty
      where the hardware has no such split.
    * `overlap`: issue the scores of the next tile before the softmax of this
      one has met its values, so that both run at once.
    * `rescale_threshold`: with `t > 0`, the accumulator is rescaled only when
      a row maximum of the warp grew by more than `t` in log2 units; 0 always
      rescales. Exact either way: the reference of the exponentials just lags.
    * `persistent`: one block per multiprocessor walks many tiles.
    * `descending`: the longest query tiles first.

    The others have defaults, which are not printed:

    * `shared_loop_columns` (136): with accumulators of so many columns or more,
      the first tile (`overlap`), the partial and the full ones share the code
      of one loop: a branch or two more per tile, for less to assemble.
    * `section_bytes` (32 MiB): with `descending`, heads whose keys and values
      take no more than this are worked on together, so that these stay in the
      second-level cache.
    * `repair_accumulators` (32), `repair_keys` (16): rows that a hidden NaN
      spoilt are computed again by as many columns of the result at a time as
      take so many accumulators of a thread, and by so many keys at a time.
    * `product_columns` (128): columns of one `wgmma` whose left operand is in
      registers (`fa3`).
    * `kept_descriptors` (6 with less than 200 registers, else all): of the
      descriptors of a tile of Q, how many are kept in registers over a key loop
      (`fa3`). The others are formed anew where they are used.
    * `spill_indices` (true): indices that the code behind the key loops needs,
      or the copies and masks in them, wait in shared memory (`fa2`).
    * `unroll` (false): the assembler may unroll loops.
    * `reduce_strength` (false): LLVM may keep a variable per address instead of
      computing it from the loop's number.

    ```mlir
    #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 80,
                   workers = 3, query_stages = 2, stages = 3, registers = [32, 160],
                   overlap = true, rescale_threshold = 8,
                   persistent = false, descending = true>
    ```
  }];
  let parameters = (ins
    EnumParameter<Attn_Style>:$style,
    StringRefParameter<>:$target,
    "int64_t":$rows,
    "int64_t":$keys,
    "int64_t":$workers,
    "int64_t":$query_stages,
    "int64_t":$stages,
    ArrayRefParameter<"int64_t">:$registers,
    "bool":$overlap,
    "int64_t":$rescale_threshold,
    "bool":$persistent,
    "bool":$descending,
    DefaultValuedParameter<"int64_t", "ScheduleDefaults::sharedLoopColumns">:$shared_loop_columns,
    DefaultValuedParameter<"int64_t", "ScheduleDefaults::sectionBytes">:$section_bytes,
    DefaultValuedParameter<"int64_t", "ScheduleDefaults::repairAccumulators">:$repair_accumulators,
    DefaultValuedParameter<"int64_t", "ScheduleDefaults::repairKeys">:$repair_keys,
    DefaultValuedParameter<"int64_t", "ScheduleDefaults::productColumns">:$product_columns,
    OptionalParameter<"std::optional<int64_t>">:$kept_descriptors,
    DefaultValuedParameter<"bool", "ScheduleDefaults::spillIndices">:$spill_indices,
    DefaultValuedParameter<"bool", "ScheduleDefaults::unroll">:$unroll,
    DefaultValuedParameter<"bool", "ScheduleDefaults::reduceStrength">:$reduce_strength
  );
  let assemblyFormat = [{
    `<` struct($style, $target, $rows, $keys, $workers, $query_stages, $stages,
               custom<IntegerList>($registers), $overlap, $rescale_threshold,
               $persistent, $descending, $shared_loop_columns, $section_bytes,
               $repair_accumulators, $repair_keys,
               $product_columns, $kept_descriptors, $spill_indices, $unroll,
               $reduce_strength) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Query rows of one worker.
    int64_t getRowsPerWorker() const { return getRows() / getWorkers(); }
    /// `kept_descriptors`, or what the registers of a consumer have room for.
    int64_t getNumKeptDescriptors() const;
  }];
}

#endif // ATTN_DIALECT_ATTN_ATTNATTRS_TD
