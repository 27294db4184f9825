// DEFINE: %{segments} =
// DEFINE: %{columns} = 9
// DEFINE: %{prefix} = THREE
// DEFINE: %{lower} = sed 's/segments(.*)$/segments(%{segments})/; s/COLUMNS/%{columns}/' %s | \
// DEFINE:   attn-opt --attn-lower-tile-loops | \
// DEFINE:   FileCheck %s --check-prefixes=CHECK,%{prefix} --implicit-check-not=attn.tile

// CHECK-LABEL: func.func @loop
// CHECK-SAME: %[[S:[^ ]*]]: vector<16x8xf32>, %{{.*}}: vector<16xindex>, %[[FROM:[^ ]*]]: index, %[[FIRST:[^ ]*]]: index, %[[A:[^ ]*]]: index, %[[B:[^ ]*]]: index, %[[N:[^ ]*]]: index

// Both ends of a band may be partial: masks in the first and the last loop.
// REDEFINE: %{segments} = partial %a, full %b, partial %n
// RUN: %{lower}
// THREE: scf.for %{{.*}} = %{{.*}} to %[[A]]
// THREE: attn.mask_band
// THREE: scf.for %{{.*}} = %[[A]] to %[[B]]
// THREE-NEXT: math.exp2
// THREE: scf.for %{{.*}} = %[[B]] to %[[N]]
// THREE: attn.mask_band

// Segments that are alike are one loop.
// REDEFINE: %{prefix} = PARTIAL
// REDEFINE: %{segments} = tail %a, partial %n
// RUN: %{lower}
// PARTIAL: scf.for %{{.*}} = %{{.*}} to %[[N]]
// PARTIAL: attn.mask_band
// PARTIAL-NOT: scf.for
// PARTIAL: return
// REDEFINE: %{prefix} = FULL
// REDEFINE: %{segments} = full %n
// RUN: %{lower}
// FULL: scf.for
// FULL-NEXT: math.exp2 %[[ACC:[^ ]*]]
// FULL-NEXT: arith.addf %{{.*}}, %[[S]]
// FULL-NOT: attn.mask_band
// FULL: return

// Accumulators of 8 columns: one loop, which masks what is before the end of
// the partial tiles, or behind that of the full ones.
// REDEFINE: %{columns} = 8
// REDEFINE: %{prefix} = SHARED
// REDEFINE: %{segments} = partial %a, full %n
// RUN: %{lower}
// SHARED: scf.for %[[I:[^ ]*]] = %{{.*}} to %[[N]]
// SHARED: %[[MASKS:.*]] = arith.cmpi slt, %[[I]], %[[A]]
// SHARED: %[[X:.*]] = scf.if %[[MASKS]]
// SHARED:   attn.mask_band %[[S]]
// SHARED: } else {
// SHARED-NEXT: scf.yield %[[S]]
// SHARED: arith.addf %{{.*}}, %[[X]]
// SHARED-NOT: scf.for
// SHARED: return
// REDEFINE: %{prefix} = BOTH
// REDEFINE: %{segments} = partial %a, full %b, partial %n
// RUN: %{lower}
// BOTH: scf.for %[[I:[^ ]*]] = %{{.*}} to %[[N]]
// BOTH-DAG: %[[BEFORE:.*]] = arith.cmpi slt, %[[I]], %[[A]]
// BOTH-DAG: %[[BEHIND:.*]] = arith.cmpi sge, %[[I]], %[[B]]
// BOTH: %[[MASKS:.*]] = arith.ori %[[BEFORE]], %[[BEHIND]]
// BOTH: scf.if %[[MASKS]]
// BOTH-NOT: scf.for
// BOTH: return

// A tail is no loop to share code with.
// REDEFINE: %{prefix} = TAIL
// REDEFINE: %{segments} = tail %a, full %n
// RUN: %{lower}
// TAIL: scf.for %{{.*}} = %{{.*}} to %[[A]]
// TAIL: attn.mask_band
// TAIL: scf.for %{{.*}} = %[[A]] to %[[N]]
// TAIL-NOT: scf.if
// TAIL: return

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [], overlap = false,
                           rescale_threshold = 8, persistent = false,
                           descending = false, shared_loop_columns = COLUMNS>
func.func @loop(%s: vector<16x8xf32>, %lu: vector<16xindex>, %from: index, %first: index, %a: index, %b: index, %n: index) -> vector<16x8xf32>
    attributes {attn.schedule = #schedule} {
  %r = attn.tile_loop (%i, %key) over keys step 8 first(%first) from(%from)
      segments(partial %a, full %n)
      carries(accumulator %acc = %s : vector<16x8xf32>) {
    %e = math.exp2 %acc : vector<16x8xf32>
    %x = attn.mask_band %s at(%key) [%lu, %lu] : vector<16x8xf32>, vector<16xindex>
    %next = arith.addf %e, %x : vector<16x8xf32>
    attn.yield %next : vector<16x8xf32>
  }
  return %r : vector<16x8xf32>
}
