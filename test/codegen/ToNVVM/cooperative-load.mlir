// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#l = #attn_gpu.panels<rows = 64, swizzle = 128>
!ring = !attn_gpu.channel<64x128xbf16, stages = 1, #l>
!narrow = !attn_gpu.channel<24x72xf16, stages = 1, #attn_gpu.panels<rows = 24, swizzle = 128>>
#sm_80 = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 64,
                        workers = 4, query_stages = 1, stages = 1,
                        registers = [], overlap = false,
                        rescale_threshold = 0, persistent = false,
                        descending = false>

gpu.module @kernels {
  // 128 threads, 8 units of 16 bytes a row: 4 rounds of 16 rows for each of 2
  // panels.
  // CHECK-LABEL: llvm.func @load
  // CHECK-SAME: (%[[BASE:.*]]: !llvm.ptr<1>, %[[SIZE:[^:]*]]: i32, %[[STRIDE:[^:]*]]: i64, %[[ROW:[^:]*]]: i32, %[[N:[^:]*]]: i32)
  gpu.func @load(%k: memref<?x128xbf16, strided<[?, 1]>>, %row: index, %n: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64, attn.schedule = #sm_80} {
    // Full once all threads have arrived, empty once all warps have.
    // CHECK: %[[THREADS:.*]] = llvm.mlir.constant(128 : i32)
    // CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[THREADS]]
    // CHECK: %[[WARPS:.*]] = llvm.mlir.constant(4 : i32)
    // CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[WARPS]]
    // No copy engine looks at them.
    // CHECK-NOT: fence
    // CHECK: nvvm.barrier
    %ring = attn_gpu.channel consumers(4) : !ring
    %c0 = arith.constant 0 : index
    // CHECK: mbarrier.test_wait.parity
    // The base and the distance of rows are multiples of 16 bytes, or not.
    // CHECK: llvm.ptrtoint %[[BASE]]
    // CHECK: %[[ALIGNED:.*]] = llvm.icmp "eq"
    // CHECK: llvm.cond_br %[[ALIGNED]], ^[[FAST:.*]], ^[[SLOW:.*]]
    // CHECK: ^[[FAST]]:
    // A row outside the tensor is not read.
    // CHECK: %[[IN_ROWS:.*]] = llvm.icmp "slt" %{{.*}}, %[[SIZE]]
    // CHECK: %[[INSIDE:.*]] = llvm.and %[[IN_ROWS]]
    // CHECK: %[[BYTES:.*]] = llvm.select %[[INSIDE]]
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[BYTES]]
    // CHECK-COUNT-7: nvvm.cp.async.shared.global
    // CHECK-NOT: nvvm.cp.async.shared.global
    // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true}
    // CHECK: ^[[SLOW]]:
    // CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<1> -> bf16
    // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
    // CHECK: mbarrier.arrive
    attn_gpu.cooperative_load %k[%row, %c0] rows(0) to %ring[%n] : memref<?x128xbf16, strided<[?, 1]>> to !ring
    gpu.return
  }

  // 72 columns are written as 80, what a matmul reads: the last panel has two
  // units. The tensor has only 64. 24 rows are one and a half rounds.
  // CHECK-LABEL: llvm.func @narrow
  gpu.func @narrow(%k: memref<?x64xf16, strided<[?, 1]>>, %row: index, %n: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %ring = attn_gpu.channel consumers(4) : !narrow
    %c0 = arith.constant 0 : index
    // Barriers of this target put the thread to sleep.
    // CHECK: mbarrier.try_wait.parity
    // CHECK: %[[COLUMNS:.*]] = llvm.mlir.constant(64 : i32)
    // CHECK: %[[ROWS:.*]] = llvm.mlir.constant(24 : i32)
    // CHECK: llvm.icmp "slt" %{{.*}}, %[[ROWS]]
    // CHECK: %[[UNITS:.*]] = llvm.mlir.constant(10 : i32)
    // CHECK: llvm.icmp "slt" %{{.*}}, %[[UNITS]]
    // CHECK: llvm.icmp "slt" %{{.*}}, %[[COLUMNS]]
    // CHECK-COUNT-4: nvvm.cp.async.shared.global
    // CHECK-NOT: nvvm.cp.async.shared.global
    attn_gpu.cooperative_load %k[%row, %c0] rows(0) to %ring[%n] : memref<?x64xf16, strided<[?, 1]>> to !narrow
    gpu.return
  }
}
