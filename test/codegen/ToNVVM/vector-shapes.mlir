// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @rows
  gpu.func @rows() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: %[[WARP_ROW:.*]] = llvm.mul %{{.*}}, %{{.*}} : i32
    // CHECK: %[[FIRST:.*]] = llvm.add %[[WARP_ROW]]
    // CHECK: nvvm.shfl.sync idx
    // Two slabs of 64 rows.
    // CHECK: %[[C8:.*]] = llvm.mlir.constant(8 : i32)
    // CHECK-NEXT: llvm.add %[[FIRST]], %[[C8]]
    // CHECK: %[[C64:.*]] = llvm.mlir.constant(64 : i32)
    // CHECK-NEXT: llvm.add %[[FIRST]], %[[C64]]
    // CHECK: %[[C72:.*]] = llvm.mlir.constant(72 : i32)
    // CHECK-NEXT: llvm.add %[[FIRST]], %[[C72]]
    %rows = vector.step : vector<128xindex>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @columns
  gpu.func @columns() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: nvvm.shfl.sync idx
    // CHECK: %[[C1:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK-NEXT: llvm.add %[[FIRST:.*]], %[[C1]]
    // CHECK: %[[C8:.*]] = llvm.mlir.constant(8 : i32)
    // CHECK-NEXT: llvm.add %[[FIRST]], %[[C8]]
    // CHECK: %[[C9:.*]] = llvm.mlir.constant(9 : i32)
    // CHECK-NEXT: llvm.add %[[FIRST]], %[[C9]]
    %step = vector.step : vector<16xindex>
    %columns = vector.shape_cast %step : vector<16xindex> to vector<1x16xindex>
    gpu.return
  }

  // Scalars 0 and 1 of a fragment are of the first row, 2 and 3 of the second.
  // CHECK-LABEL: llvm.func @rows_to_fragment
  // CHECK-SAME: %[[X:.*]]: f32)
  gpu.func @rows_to_fragment(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %step = vector.step : vector<64xindex>
    %i = arith.index_cast %step : vector<64xindex> to vector<64xi32>
    // CHECK: %[[A:.*]] = llvm.sitofp
    // CHECK: %[[B:.*]] = llvm.sitofp
    %f = arith.sitofp %i : vector<64xi32> to vector<64xf32>
    %f1 = vector.shape_cast %f : vector<64xf32> to vector<64x1xf32>
    %v = vector.broadcast %f1 : vector<64x1xf32> to vector<64x8xf32>
    %y = vector.broadcast %x : f32 to vector<64x8xf32>
    // CHECK: llvm.fmul %[[A]], %[[X]]
    // CHECK-NEXT: llvm.fmul %[[A]], %[[X]]
    // CHECK-NEXT: llvm.fmul %[[B]], %[[X]]
    // CHECK-NEXT: llvm.fmul %[[B]], %[[X]]
    %p = arith.mulf %v, %y : vector<64x8xf32>
    gpu.return
  }

  // ... and columns alternate.
  // CHECK-LABEL: llvm.func @columns_to_fragment
  gpu.func @columns_to_fragment(%x: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %step = vector.step : vector<8xindex>
    %c = vector.shape_cast %step : vector<8xindex> to vector<1x8xindex>
    // CHECK: %[[A:.*]] = llvm.trunc
    // CHECK: %[[B:.*]] = llvm.trunc
    %i = arith.index_cast %c : vector<1x8xindex> to vector<1x8xi16>
    %v = vector.broadcast %i : vector<1x8xi16> to vector<64x8xi16>
    // CHECK: llvm.add %[[A]], %[[A]]
    // CHECK-NEXT: llvm.add %[[B]], %[[B]]
    // CHECK-NEXT: llvm.add %[[A]], %[[A]]
    // CHECK-NEXT: llvm.add %[[B]], %[[B]]
    %p = arith.addi %v, %v : vector<64x8xi16>
    gpu.return
  }
}
