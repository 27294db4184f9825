// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#q = #attn_gpu.panels<rows = 32, swizzle = 128>
#p = #attn_gpu.panels<rows = 64, swizzle = 128>
!ring = !attn_gpu.channel<32x64xbf16, stages = 2, #q>
!tile = !attn_gpu.tile<32x64xbf16, #q>
!wide = !attn_gpu.channel<64x64xbf16, stages = 2, #p>
!widetile = !attn_gpu.tile<64x64xbf16, #p>

#kept = #attn.schedule<style = fa2, target = "sm_80", rows = 128, keys = 32,
                       workers = 4, query_stages = 1, stages = 2, registers = [],
                       overlap = false, rescale_threshold = 0, persistent = false,
                       descending = false, spill_indices = false>

gpu.module @kernels {
  // Of the numbers in front of the key loop, four are used behind it: the count
  // of trips, one that the tile loop carries, the tile's own, and one computed.
  // They wait in the 64 bytes of the warp, behind 8192 bytes of tiles and 32 of
  // barriers. What the next tile is computed from is made equal over the warp.
  // CHECK-LABEL: llvm.func @parked
  // CHECK-SAME: attn_gpu.shared_bytes = 8480
  gpu.func @parked(%tiles: index, %n: index, %start: index, %stride: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<32x32xf32>
    %ring = attn_gpu.channel consumers(4) : !ring
    // Trips are counted, and the number follows from them.
    // CHECK: ^bb{{.*}}(%[[COUNT:.*]]: i32, %{{.*}}: i32):
    // CHECK: llvm.mul %[[COUNT]]
    // CHECK: llvm.icmp "slt"
    // CHECK-NEXT: llvm.cond_br %{{.*}}, ^{{.*}}(%[[COUNT]], %{{.*}} : i32, i32)
    // CHECK-NEXT: ^bb{{.*}}(%[[TRIP:.*]]: i32, %[[CARRIED:.*]]: i32):
    // CHECK: %[[WAY:.*]] = llvm.mul %[[TRIP]]
    // CHECK: %[[TILE:.*]] = llvm.add %{{.*}}, %[[WAY]]
    // CHECK: %[[SLOT:.*]] = llvm.add %[[CARRIED]]
    // Lanes that still read those of the tile before are waited for.
    // CHECK: nvvm.bar.warp.sync
    // CHECK: llvm.mlir.constant(8224 : i32)
    // CHECK: %[[FIRST:.*]] = llvm.getelementptr %{{.*}}[0]
    // CHECK: llvm.store volatile %[[TRIP]], %[[FIRST]]
    // CHECK: %[[SECOND:.*]] = llvm.getelementptr %{{.*}}[1]
    // CHECK: llvm.store volatile %[[CARRIED]], %[[SECOND]]
    // CHECK: %[[THIRD:.*]] = llvm.getelementptr %{{.*}}[2]
    // CHECK: llvm.store volatile %[[TILE]], %[[THIRD]]
    // CHECK: %[[FOURTH:.*]] = llvm.getelementptr %{{.*}}[3]
    // CHECK: llvm.store volatile %[[SLOT]], %[[FOURTH]]
    // CHECK-NOT: volatile
    %last = scf.for %tile = %start to %tiles step %stride iter_args(%carried = %c0) -> index {
      %slot = arith.addi %carried, %n : index
      // Only the loop sees it.
      %bound = arith.addi %n, %n : index
      // CHECK: nvvm.mma.sync
      %sum = scf.for %i = %c0 to %bound step %c1 iter_args(%acc = %zero) -> vector<32x32xf32> {
        %a = attn_gpu.receive %ring[%slot] : !ring
        %s = attn_gpu.mma_async %a, %a transpose_b : !tile, !tile -> !attn_gpu.inflight<32x32xf32>
        %0 = attn_gpu.mma_wait %s pending(0) : !attn_gpu.inflight<32x32xf32>
        scf.yield %0 : vector<32x32xf32>
      }
      // CHECK: %[[LOADED0:.*]] = llvm.load volatile
      // CHECK: %[[TRIP1:.*]] = nvvm.redux.sync or %[[LOADED0]]
      // CHECK: %[[LOADED1:.*]] = llvm.load volatile
      // CHECK: %[[CARRIED1:.*]] = nvvm.redux.sync or %[[LOADED1]]
      // CHECK: %[[TILE1:.*]] = llvm.load volatile
      // CHECK-NOT: redux
      // CHECK: %[[LOADED3:.*]] = llvm.load volatile
      // CHECK: %[[SLOT1:.*]] = nvvm.redux.sync or %[[LOADED3]]
      // CHECK-NOT: volatile
      // CHECK: llvm.add %[[TILE1]], %[[CARRIED1]]
      %other = arith.addi %tile, %carried : index
      attn_gpu.release %ring[%other] : !ring
      attn_gpu.release %ring[%slot] : !ring
      // CHECK: llvm.add %[[CARRIED1]], %[[SLOT1]]
      %next = arith.addi %carried, %slot : index
      // CHECK: llvm.add %[[TRIP1]]
      scf.yield %next : index
    }
    // CHECK: llvm.return
    gpu.return
  }

  // Numbers of rows differ between lanes: they are computed again, from the
  // tile's own number, which is parked.
  // CHECK-LABEL: llvm.func @index_vectors
  gpu.func @index_vectors(%tiles: index, %rows: memref<?xindex>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %limit = arith.constant dense<7> : vector<32xindex>
    %zero = arith.constant dense<0.0> : vector<32x32xf32>
    %ring = attn_gpu.channel consumers(4) : !ring
    // CHECK: llvm.store volatile %[[TRIP:[^,]*]],
    // CHECK: llvm.store volatile %[[TILE:[^,]*]],
    scf.for %tile = %c0 to %tiles step %c1 {
      %step = vector.step : vector<32xindex>
      %first = vector.broadcast %tile : index to vector<32xindex>
      %row = arith.addi %step, %first : vector<32xindex>
      // CHECK: nvvm.mma.sync
      %sum = scf.for %i = %c0 to %tiles step %c1 iter_args(%acc = %zero) -> vector<32x32xf32> {
        %a = attn_gpu.receive %ring[%tile] : !ring
        %s = attn_gpu.mma_async %a, %a transpose_b : !tile, !tile -> !attn_gpu.inflight<32x32xf32>
        %0 = attn_gpu.mma_wait %s pending(0) : !attn_gpu.inflight<32x32xf32>
        %bounded = attn.mask_band %0 at(%c0) [%row, %limit] : vector<32x32xf32>, vector<32xindex>
        scf.yield %bounded : vector<32x32xf32>
      }
      // CHECK: nvvm.redux.sync
      // CHECK: %[[AGAIN:.*]] = llvm.load volatile
      // CHECK: llvm.add %{{.*}}, %[[AGAIN]]
      // CHECK: llvm.icmp "slt"
      %inside = arith.cmpi slt, %row, %limit : vector<32xindex>
      %any = attn_gpu.warp_any %inside : vector<32xi1>
      scf.if %any {
        attn_gpu.release %ring[%tile] : !ring
      }
    }
    // CHECK: llvm.return
    gpu.return
  }

  // What counts the trips already is not carried beside their count.
  // CHECK-LABEL: llvm.func @count_of_trips
  gpu.func @count_of_trips(%tiles: index, %start: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<32x32xf32>
    %ring = attn_gpu.channel consumers(4) : !ring
    // CHECK: ^bb{{.*}}(%[[COUNT:[^:]*]]: i32, %{{[^:]*}}: i32):
    // CHECK: llvm.cond_br
    // CHECK: ^bb{{.*}}(%[[TRIP:[^:]*]]: i32, %{{[^:]*}}: i32):
    // CHECK: llvm.store volatile %[[TRIP]],
    // CHECK-NOT: volatile
    // CHECK: nvvm.mma.sync
    %last = scf.for %tile = %start to %tiles step %c1 iter_args(%slot = %c0) -> index {
      %sum = scf.for %i = %c0 to %tiles step %c1 iter_args(%acc = %zero) -> vector<32x32xf32> {
        %a = attn_gpu.receive %ring[%slot] : !ring
        %s = attn_gpu.mma_async %a, %a transpose_b : !tile, !tile -> !attn_gpu.inflight<32x32xf32>
        %0 = attn_gpu.mma_wait %s pending(0) : !attn_gpu.inflight<32x32xf32>
        scf.yield %0 : vector<32x32xf32>
      }
      attn_gpu.release %ring[%slot] : !ring
      %next = arith.addi %slot, %c1 : index
      scf.yield %next : index
    }
    // CHECK: llvm.return
    gpu.return
  }

  // In the loops too, where a copy or a mask uses them; not as a bound.
  // CHECK-LABEL: llvm.func @inside
  gpu.func @inside(%tiles: index, %K: memref<?x64xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<32x32xf32>
    %none = arith.constant dense<0> : vector<32xindex>
    %ring = attn_gpu.channel consumers(4) : !ring
    scf.for %tile = %c0 to %tiles step %c1 {
      %row = arith.addi %tile, %tile : index
      %bound = arith.addi %tile, %c1 : index
      %limit = vector.broadcast %row : index to vector<32xindex>
      // CHECK: %[[ROW:.*]] = llvm.add %[[TILE:.*]], %[[TILE]]
      // CHECK: %[[BOUND:.*]] = llvm.add %[[TILE]],
      // CHECK: llvm.store volatile %{{.*}},
      // CHECK: llvm.store volatile %[[ROW]], %{{.*}}
      // CHECK-NOT: llvm.store volatile
      // CHECK: llvm.icmp "slt" %{{.*}}, %[[BOUND]]
      %sum = scf.for %i = %c0 to %bound step %c1 iter_args(%acc = %zero) -> vector<32x32xf32> {
        // CHECK: llvm.load volatile
        // CHECK: nvvm.cp.async.shared.global
        attn_gpu.cooperative_load %K[%row, %c0] rows(0) to %ring[%i] : memref<?x64xbf16> to !ring
        %a = attn_gpu.receive %ring[%i] : !ring
        // CHECK: nvvm.mma.sync
        %s = attn_gpu.mma_async %a, %a transpose_b : !tile, !tile -> !attn_gpu.inflight<32x32xf32>
        %0 = attn_gpu.mma_wait %s pending(0) : !attn_gpu.inflight<32x32xf32>
        // CHECK: llvm.load volatile
        %masked = attn.mask_band %0 at(%i) [%none, %limit] : vector<32x32xf32>, vector<32xindex>
        attn_gpu.release %ring[%i] : !ring
        scf.yield %masked : vector<32x32xf32>
      }
    }
    // CHECK: llvm.return
    gpu.return
  }

  // Loops that overlap stand under a condition.
  // CHECK-LABEL: llvm.func @under_a_condition
  gpu.func @under_a_condition(%tiles: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ring = attn_gpu.channel consumers(4) : !ring
    scf.for %tile = %c0 to %tiles step %c1 {
      %slot = arith.addi %tile, %tile : index
      %some = arith.cmpi sgt, %tiles, %c1 : index
      // CHECK: llvm.store volatile
      // CHECK: llvm.store volatile
      // CHECK: llvm.cond_br
      scf.if %some {
        // CHECK: nvvm.mma.sync
        %a = attn_gpu.receive %ring[%tile] : !ring
        %s = attn_gpu.mma_async %a, %a transpose_b : !tile, !tile -> !attn_gpu.inflight<32x32xf32>
        %0 = attn_gpu.mma_wait %s pending(0) : !attn_gpu.inflight<32x32xf32>
      }
      // CHECK: llvm.load volatile
      // CHECK: llvm.load volatile
      attn_gpu.release %ring[%slot] : !ring
    }
    // CHECK: llvm.return
    gpu.return
  }

  // Without products registers are not short.
  // CHECK-LABEL: llvm.func @negative_no_products
  // CHECK-SAME: attn_gpu.shared_bytes = 8224
  // CHECK-NOT: volatile
  gpu.func @negative_no_products(%tiles: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ring = attn_gpu.channel consumers(4) : !ring
    scf.for %tile = %c0 to %tiles step %c1 {
      %slot = arith.addi %tile, %c1 : index
      scf.for %i = %c0 to %tiles step %c1 {
        %a = attn_gpu.receive %ring[%slot] : !ring
      }
      attn_gpu.release %ring[%slot] : !ring
    }
    gpu.return
  }

  // The schedule keeps them in registers.
  // CHECK-LABEL: llvm.func @negative_schedule
  // CHECK-SAME: attn_gpu.shared_bytes = 8224
  // CHECK-NOT: volatile
  gpu.func @negative_schedule(%tiles: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64, attn.schedule = #kept} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<32x32xf32>
    %ring = attn_gpu.channel consumers(4) : !ring
    scf.for %tile = %c0 to %tiles step %c1 {
      %slot = arith.addi %tile, %c1 : index
      %sum = scf.for %i = %c0 to %tiles step %c1 iter_args(%acc = %zero) -> vector<32x32xf32> {
        %a = attn_gpu.receive %ring[%tile] : !ring
        %s = attn_gpu.mma_async %a, %a transpose_b : !tile, !tile -> !attn_gpu.inflight<32x32xf32>
        %0 = attn_gpu.mma_wait %s pending(0) : !attn_gpu.inflight<32x32xf32>
        scf.yield %0 : vector<32x32xf32>
      }
      attn_gpu.release %ring[%slot] : !ring
    }
    gpu.return
  }

  // The number of a thread is not that of its warp.
  // CHECK-LABEL: llvm.func @negative_thread_number
  // CHECK-SAME: attn_gpu.shared_bytes = 8224
  // CHECK-NOT: volatile
  gpu.func @negative_thread_number(%tiles: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<32x32xf32>
    %thread = gpu.thread_id x
    %ring = attn_gpu.channel consumers(4) : !ring
    scf.for %tile = %c0 to %tiles step %c1 {
      %slot = arith.addi %tile, %thread : index
      %sum = scf.for %i = %c0 to %tiles step %c1 iter_args(%acc = %zero) -> vector<32x32xf32> {
        %a = attn_gpu.receive %ring[%tile] : !ring
        %s = attn_gpu.mma_async %a, %a transpose_b : !tile, !tile -> !attn_gpu.inflight<32x32xf32>
        %0 = attn_gpu.mma_wait %s pending(0) : !attn_gpu.inflight<32x32xf32>
        scf.yield %0 : vector<32x32xf32>
      }
      attn_gpu.release %ring[%slot] : !ring
    }
    gpu.return
  }

  // A warpgroup's registers are budgeted by its roles.
  // CHECK-LABEL: llvm.func @negative_warpgroup
  // CHECK-SAME: attn_gpu.shared_bytes = 16416
  // CHECK-NOT: volatile
  gpu.func @negative_warpgroup(%tiles: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %ring = attn_gpu.channel consumers(1) : !wide
    scf.for %tile = %c0 to %tiles step %c1 {
      %slot = arith.addi %tile, %c1 : index
      %sum = scf.for %i = %c0 to %tiles step %c1 iter_args(%acc = %zero) -> vector<64x64xf32> {
        %a = attn_gpu.receive %ring[%tile] : !wide
        %s = attn_gpu.mma_async %a, %a transpose_b : !widetile, !widetile -> !attn_gpu.inflight<64x64xf32>
        %0 = attn_gpu.mma_wait %s pending(0) : !attn_gpu.inflight<64x64xf32>
        scf.yield %0 : vector<64x64xf32>
      }
      attn_gpu.release %ring[%slot] : !wide
    }
    gpu.return
  }
}
