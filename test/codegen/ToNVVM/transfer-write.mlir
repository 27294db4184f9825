// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
!o = memref<?x4x16xbf16, strided<[?, ?, 1], offset: ?>>

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @fragment
  // CHECK-SAME: (%[[BASE:.*]]: !llvm.ptr<1>, %[[ROWS:.*]]: i32, %[[STRIDE:.*]]: i64, %[[HEADS:.*]]: i64, %[[R:.*]]: i32, %[[H:.*]]: i32)
  gpu.func @fragment(%o: !o, %r: index, %h: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<64x16xbf16>
    // CHECK: %[[FIRST:.*]] = llvm.add %[[R]]
    // Offsets are formed in 64 bits.
    // CHECK: %[[WIDE_HEAD:.*]] = llvm.zext %[[H]] : i32 to i64
    // CHECK: llvm.mul %[[WIDE_HEAD]], %[[HEADS]] : i64
    // CHECK: %[[ROW:.*]] = llvm.add %[[FIRST]]
    // CHECK: %[[INSIDE:.*]] = llvm.icmp "slt" %[[ROW]], %[[ROWS]]
    // CHECK: llvm.cond_br %[[INSIDE]]
    // CHECK: llvm.mul %{{.*}}, %[[STRIDE]] : i64
    // CHECK: %[[START:.*]] = llvm.getelementptr %[[BASE]]
    // CHECK: %[[OWN:.*]] = llvm.getelementptr %[[START]][0]
    // CHECK: llvm.store %{{.*}}, %[[OWN]] : i32, !llvm.ptr<1>
    // CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[START]][16]
    // CHECK: llvm.store %{{.*}}, %[[NEXT]]
    // CHECK: llvm.br
    // CHECK: llvm.mlir.constant(8 : i32)
    // CHECK: llvm.cond_br
    // CHECK-COUNT-2: llvm.store
    // CHECK-NOT: llvm.store
    vector.transfer_write %v, %o[%r, %h, %c0] {in_bounds = [false, true], permutation_map = #rows} : vector<64x16xbf16>, !o
    gpu.return
  }

  // One of the four lanes that share a row writes.
  // CHECK-LABEL: llvm.func @rows
  gpu.func @rows(%o: memref<?xf32>, %r: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %v = arith.constant dense<1.0> : vector<64xf32>
    // CHECK: %[[INSIDE:.*]] = llvm.icmp "slt"
    // CHECK: %[[FIRST_LANE:.*]] = llvm.icmp "eq"
    // CHECK: %[[BOTH:.*]] = llvm.and %[[INSIDE]], %[[FIRST_LANE]]
    // CHECK: llvm.cond_br %[[BOTH]]
    // CHECK: llvm.store %{{.*}} : f32
    vector.transfer_write %v, %o[%r] {in_bounds = [false]} : vector<64xf32>, memref<?xf32>
    gpu.return
  }

  // Columns past the memref are not written.
  // CHECK-LABEL: llvm.func @columns
  // CHECK-SAME: (%{{.*}}: !llvm.ptr<1>, %[[COLUMNS:.*]]: i32, %{{.*}}: i64)
  gpu.func @columns(%o: memref<64x?xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<64x8xf32>
    // CHECK: %[[INSIDE:.*]] = llvm.icmp "slt" %{{.*}}, %[[COLUMNS]]
    // CHECK: llvm.cond_br %[[INSIDE]]
    // CHECK: llvm.store
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, false]} : vector<64x8xf32>, memref<64x?xf32>
    gpu.return
  }

  // A mask by row hides rows, each thread's own.
  // CHECK-LABEL: llvm.func @masked_rows
  // CHECK-SAME: (%{{.*}}: !llvm.ptr<1>, %[[ROWS:.*]]: i32, %[[LIMIT:.*]]: i32)
  gpu.func @masked_rows(%o: memref<?x16xbf16>, %limit: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<64x16xbf16>
    %row = vector.step : vector<64xindex>
    %limits = vector.broadcast %limit : index to vector<64xindex>
    // CHECK: %[[WANTED:.*]] = llvm.icmp "ult" %[[ROW:.*]], %[[LIMIT]]
    // CHECK: %[[WANTED8:.*]] = llvm.icmp "ult" %[[ROW8:.*]], %[[LIMIT]]
    %wanted = arith.cmpi ult, %row, %limits : vector<64xindex>
    %column = vector.shape_cast %wanted : vector<64xi1> to vector<64x1xi1>
    %mask = vector.broadcast %column : vector<64x1xi1> to vector<64x16xi1>
    // CHECK: %[[INSIDE:.*]] = llvm.icmp "slt" %{{.*}}, %[[ROWS]]
    // CHECK: %[[BOTH:.*]] = llvm.and %[[INSIDE]], %[[WANTED]]
    // CHECK: llvm.cond_br %[[BOTH]]
    // CHECK: %[[INSIDE8:.*]] = llvm.icmp "slt" %{{.*}}, %[[ROWS]]
    // CHECK: %[[BOTH8:.*]] = llvm.and %[[INSIDE8]], %[[WANTED8]]
    // CHECK: llvm.cond_br %[[BOTH8]]
    vector.transfer_write %v, %o[%c0, %c0], %mask {in_bounds = [false, true]} : vector<64x16xbf16>, memref<?x16xbf16>
    gpu.return
  }
}
