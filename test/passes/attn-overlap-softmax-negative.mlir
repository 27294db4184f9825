// Each RUN line edits one op of the loop below, and the loop stays as it is.
// DEFINE: %{edit} =
// DEFINE: %{prefix} = NONE
// DEFINE: %{overlap} = sed "%{edit}" %s | \
// DEFINE:   attn-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' 2>&1 | \
// DEFINE:   FileCheck %s --check-prefixes=LOOP,%{prefix} --implicit-check-not='pending(1)'

// LOOP-DAG: segments(full
// LOOP-DAG: gpu.func @unchanged

// Nobody asked for it.
// REDEFINE: %{edit} = s/overlap = true/overlap = false/
// RUN: %{overlap} --implicit-check-not=remark
// NONE: gpu.return

// REDEFINE: %{edit} = s/carries(accumulator/carries(sum/
// REDEFINE: %{prefix} = ROLE
// RUN: %{overlap}
// ROLE-DAG: remark: not overlapped: expected an accumulator{{$}}

// REDEFINE: %{edit} = s/attn.yield %%next/attn.yield %%acc/
// REDEFINE: %{prefix} = YIELD
// RUN: %{overlap}
// YIELD-DAG: remark: not overlapped: expected the accumulator to be what a PV product adds to

// REDEFINE: %{edit} = s/accumulator(%%acc : !s)/accumulator(%%other : !s)/
// REDEFINE: %{prefix} = ADDS
// RUN: %{overlap}
// ADDS-DAG: remark: not overlapped: expected the PV product to add to the carried accumulator

// REDEFINE: %{edit} = s/^ *%%rounded = .*/&\n%%shown = arith.extf %%rounded : !q to !s/
// REDEFINE: %{prefix} = TWICE
// RUN: %{overlap}
// TWICE-DAG: remark: not overlapped: expected weights that only the PV product reads

// REDEFINE: %{edit} = s/^ *%%p = .*/%%p = math.exp2 %%scores : !s/
// REDEFINE: %{prefix} = WEIGHTS
// RUN: %{overlap}
// WEIGHTS-DAG: remark: not overlapped: expected the PV product to read softmax weights

// REDEFINE: %{edit} = s/softmax_weights %%scores/softmax_weights %%other/
// REDEFINE: %{prefix} = SCORES
// RUN: %{overlap}
// SCORES-DAG: remark: not overlapped: expected the scores to come from one QK product

// The scores may not wait for the accumulator, which is still being written.
// REDEFINE: %{edit} = s/^ *%%p = .*/%%x = arith.addf %%scores, %%acc : !s\n%%p = attn.softmax_weights %%x relative(%%m) factor(%%f) : !s, vector<64xf32>/
// REDEFINE: %{prefix} = DEPENDS
// RUN: %{overlap}
// DEPENDS-DAG: remark: not overlapped: expected weights that do not depend on the accumulator

// REDEFINE: %{edit} = s/^ *attn_gpu.release %%K.*//
// REDEFINE: %{prefix} = RELEASE
// RUN: %{overlap}
// RELEASE-DAG: remark: not overlapped: expected each product to read a tile from a channel, to be waited for, and its slot to be released

// Keys and values in one tile are released once.
// REDEFINE: %{edit} = s/%%rounded, %%v/%%rounded, %%k/
// REDEFINE: %{prefix} = SHARED
// RUN: %{overlap}
// SHARED-DAG: remark: not overlapped: expected a tile for each product

// REDEFINE: %{edit} = s/^ *%%p = .*/&\n%%q2 = attn_gpu.mma_async %%q, %%k transpose_b : !q, !tile -> !started\nattn_gpu.mma_wait %%q2 pending(0) : !started/
// REDEFINE: %{prefix} = PRODUCTS
// RUN: %{overlap}
// PRODUCTS-DAG: remark: not overlapped: expected no products other than QK and PV

// Copies belong to the producer: here they would be an iteration late.
// REDEFINE: %{edit} = s/^ *%%v = .*/attn_gpu.tma_load %%map[%%i, %%i] to %%V[%%i] : !map to !ring\n&/
// REDEFINE: %{prefix} = COPIES
// RUN: %{overlap}
// COPIES-DAG: remark: not overlapped: expected no copies but those of the products' tiles by the threads

// REDEFINE: %{edit} = s/%%V\[%%i\]/%%V[%%key]/
// REDEFINE: %{prefix} = SLOTS
// RUN: %{overlap}
// SLOTS-DAG: remark: not overlapped: expected slots that follow from the iteration

// REDEFINE: %{edit} = s/segments(full %%n)/segments(full %%c0)/
// REDEFINE: %{prefix} = EMPTY
// RUN: %{overlap}
// EMPTY-DAG: remark: not overlapped: expected an iteration

// REDEFINE: %{edit} = /^ *%%sum = /,/^ *} .. the/d;s/%%sum/%%zero/
// REDEFINE: %{prefix} = ABSENT
// RUN: sed "%{edit}" %s | attn-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: remark: not overlapped: expected a loop over tiles with products

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!ring = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!map = !attn_gpu.tensor_map<16x64xbf16, swizzle = 128>
!q = vector<64x16xbf16>
!s = vector<64x16xf32>
!started = !attn_gpu.inflight<64x16xf32>

gpu.module @kernels {
  gpu.func @unchanged(%K: !ring, %V: !ring, %map: !map, %q: !q, %other: !s, %m: vector<64xf32>, %f: f32, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !s
    %sum = attn.tile_loop (%i, %key) over keys step 16 first(%c0) from(%c0) segments(full %n)
        carries(accumulator %acc = %zero : !s) {
      %k = attn_gpu.receive %K[%i] : !ring
      %qk = attn_gpu.mma_async %q, %k transpose_b : !q, !tile -> !started
      %scores = attn_gpu.mma_wait %qk pending(0) : !started
      attn_gpu.release %K[%i] : !ring
      %p = attn.softmax_weights %scores relative(%m) factor(%f) : !s, vector<64xf32>
      %rounded = arith.truncf %p : !s to !q
      %v = attn_gpu.receive %V[%i] : !ring
      %pv = attn_gpu.mma_async %rounded, %v accumulator(%acc : !s) : !q, !tile -> !started
      %next = attn_gpu.mma_wait %pv pending(0) : !started
      attn_gpu.release %V[%i] : !ring
      attn.yield %next : !s
    } // the loop
    vector.transfer_write %sum, %o[%c0, %c0] : !s, memref<64x16xf32>
    gpu.return
  }
}
