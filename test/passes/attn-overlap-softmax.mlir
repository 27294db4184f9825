// DEFINE: %{segments} =
// DEFINE: %{columns} = 17
// DEFINE: %{prefix} = PARTIAL
// DEFINE: %{overlap} = sed 's/segments(.*)$/segments(%{segments})/; s/COLUMNS/%{columns}/' %s | \
// DEFINE:   attn-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax,cse)))' | \
// DEFINE:   FileCheck %s --check-prefix=%{prefix}

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false, shared_loop_columns = COLUMNS>
!ring = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!q = vector<64x16xbf16>
!s = vector<64x16xf32>
!rows = vector<64xf32>
!started = !attn_gpu.inflight<64x16xf32>

// The prologue is the first iteration, at `from`, masked at its own position;
// the loop goes on behind it, through the same segments.
// REDEFINE: %{segments} = partial %a, full %n
// RUN: %{overlap}
// PARTIAL-LABEL: gpu.func @segments
// PARTIAL-SAME: %[[FROM:[^ ]*]]: index, %[[FIRST:[^ ]*]]: index, %[[A:[^ ]*]]: index, %[[N:[^ ]*]]: index
// PARTIAL-DAG: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %[[FROM]]
// PARTIAL-DAG: scf.if %[[ANY]]
// PARTIAL: %[[END:.*]] = arith.addi %[[FIRST]], %c1
// PARTIAL: %[[NEXT:.*]] = arith.addi %[[FROM]], %c1
// PARTIAL: %[[TILE:.*]] = arith.subi %[[END]], %[[NEXT]]
// PARTIAL: %[[KEY:.*]] = arith.muli %[[TILE]], %c16
// PARTIAL: attn.mask_band %{{.*}} at(%[[KEY]])
// PARTIAL: attn.tile_loop (%[[I:.*]], %[[P:.*]]) over keys step 16 first(%[[FIRST]]) descending from(%[[NEXT]]) segments(partial %[[A]], full %[[N]]) carries(sum {{.*}}, accumulator {{.*}}, weights
// PARTIAL:   attn.mask_band %{{.*}} at(%[[P]])
// PARTIAL: attn_gpu.mma_async
// PARTIAL-NOT: attn.tile_loop

// The prologue is all of a tail, and all of a loop that is nothing else.
// REDEFINE: %{prefix} = TAIL
// REDEFINE: %{segments} = tail %a, full %n
// RUN: %{overlap}
// TAIL-LABEL: gpu.func @segments
// TAIL-SAME: index, %[[FIRST:[^ ]*]]: index, %[[A:[^ ]*]]: index, %[[N:[^ ]*]]: index
// TAIL: attn.mask_band
// TAIL: attn.tile_loop {{.*}} first(%[[FIRST]]) descending from(%{{.*}}) segments(full %[[N]])
// REDEFINE: %{prefix} = ALONE
// REDEFINE: %{segments} = tail %n
// RUN: %{overlap}
// ALONE-LABEL: gpu.func @segments
// ALONE: attn_gpu.mma_async {{.*}} transpose_b
// ALONE-NOT: attn.tile_loop
// ALONE: attn_gpu.mma_async {{.*}} accumulator
// ALONE: } else {

// A prologue of full tiles masks nothing.
// REDEFINE: %{prefix} = FULL
// REDEFINE: %{segments} = full %a, partial %n
// RUN: %{overlap}
// FULL-LABEL: gpu.func @segments
// FULL: scf.if
// FULL-NOT: attn.mask_band
// FULL: attn.tile_loop {{.*}} segments(full %{{.*}}, partial %{{.*}})
// FULL: attn.mask_band

// Accumulators of 16 columns: the first iteration shares the loop and skips the
// PV product, for which no iteration before it left weights.
// REDEFINE: %{prefix} = SHARED
// REDEFINE: %{columns} = 16
// REDEFINE: %{segments} = partial %a, full %n
// RUN: %{overlap}
// SHARED-LABEL: gpu.func @segments
// SHARED-SAME: %[[FROM:[^ ]*]]: index, %[[FIRST:[^ ]*]]: index, %[[A:[^ ]*]]: index, %[[N:[^ ]*]]: index
// SHARED-NOT: attn_gpu.mma_async
// SHARED: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %[[FROM]]
// SHARED: %[[R:[^ ]*]]:3 = attn.tile_loop (%[[I:[^ ]*]], {{.*}} from(%[[FROM]]) segments(partial %[[A]], full %[[N]]) carries({{.*}}, accumulator %[[ACC:[^ ]*]] = %{{.*}}, weights %[[P:[^ ]*]] =
// SHARED:   %[[LATER:.*]] = arith.cmpi sgt, %[[I]], %[[FROM]]
// SHARED:   %[[PREVIOUS:.*]] = arith.subi %[[I]]
// SHARED:   %[[PV:.*]] = scf.if %[[LATER]]
// SHARED:     %[[V:.*]] = attn_gpu.receive %{{.*}}[%[[PREVIOUS]]]
// SHARED:     attn_gpu.mma_async %[[P]], %[[V]] accumulator(%[[ACC]] :
// SHARED:   } else {
// SHARED:     attn_gpu.mma_skip %[[ACC]]
// SHARED:   attn_gpu.mma_wait %[[PV]] pending(0)
// SHARED:   scf.if %[[LATER]] {
// SHARED-NEXT: attn_gpu.release %{{.*}}[%[[PREVIOUS]]]
// SHARED: scf.if %[[ANY]]
// SHARED: attn_gpu.mma_async %[[R]]#2, %{{.*}} accumulator(%[[R]]#1 :
// SHARED: } else {
// SHARED-NEXT: scf.yield %[[R]]#1

// A tail is no loop to share code with.
// REDEFINE: %{prefix} = WIDE-TAIL
// REDEFINE: %{segments} = tail %a, full %n
// RUN: %{overlap}
// WIDE-TAIL-LABEL: gpu.func @segments
// WIDE-TAIL-NOT: mma_skip
// WIDE-TAIL: attn.tile_loop {{.*}} segments(full %{{.*}})
// WIDE-TAIL-NOT: mma_skip
// WIDE-TAIL: gpu.return

gpu.module @kernels {
  gpu.func @segments(%K: !ring, %V: !ring, %q: !q, %m: !rows, %f: f32, %b: vector<64xindex>, %from: index, %first: index, %a: index, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !s
    %none = arith.constant dense<0.0> : !rows
    %sum:2 = attn.tile_loop (%i, %key) over keys step 16 first(%first) descending from(%from)
        segments(partial %a, full %n)
        carries(sum %l = %none : !rows, accumulator %acc = %zero : !s) {
      %k = attn_gpu.receive %K[%i] : !ring
      %qk = attn_gpu.mma_async %q, %k transpose_b : !q, !tile -> !started
      %s = attn_gpu.mma_wait %qk pending(0) : !started
      attn_gpu.release %K[%i] : !ring
      %x = attn.mask_band %s at(%key) [%b, %b] : !s, vector<64xindex>
      %p = attn.softmax_weights %x relative(%m) factor(%f) : !s, !rows
      %lnext = vector.multi_reduction <add>, %p, %l [1] : !s to !rows
      %rounded = arith.truncf %p : !s to !q
      %v = attn_gpu.receive %V[%i] : !ring
      %pv = attn_gpu.mma_async %rounded, %v accumulator(%acc : !s) : !q, !tile -> !started
      %next = attn_gpu.mma_wait %pv pending(0) : !started
      attn_gpu.release %V[%i] : !ring
      attn.yield %lnext, %next : !rows, !s
    }
    vector.transfer_write %sum#1, %o[%c0, %c0] : !s, memref<64x16xf32>
    gpu.return
  }
}
