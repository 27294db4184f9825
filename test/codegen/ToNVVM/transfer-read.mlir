// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @fragment
  // CHECK-SAME: (%{{.*}}: !llvm.ptr<1>, %[[ROWS:[^:]*]]: i32, %[[COLUMNS:[^:]*]]: i32
  gpu.func @fragment(%a: memref<?x?xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0.000000e+00 : f32)
    %zero = arith.constant 0.0 : f32
    // CHECK: %[[ROW:.*]] = llvm.icmp "slt" %{{.*}}, %[[ROWS]]
    // CHECK: %[[COLUMN:.*]] = llvm.icmp "slt" %{{.*}}, %[[COLUMNS]]
    // CHECK: %[[BOTH:.*]] = llvm.and %[[ROW]], %[[COLUMN]]
    // CHECK: llvm.cond_br %[[BOTH]]
    // CHECK: %[[VALUE:.*]] = llvm.load
    // CHECK: llvm.br ^[[JOIN:.*]](%[[VALUE]] : f32)
    // CHECK: llvm.br ^[[JOIN]](%[[ZERO]] : f32)
    %v = vector.transfer_read %a[%c0, %c0], %zero : memref<?x?xf32>, vector<64x8xf32>
    gpu.return
  }

  // Inside, nothing is asked.
  // CHECK-LABEL: llvm.func @columns
  gpu.func @columns(%a: memref<8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK-NOT: llvm.cond_br
    // CHECK-COUNT-2: llvm.load
    // CHECK-NOT: llvm.load
    %v = vector.transfer_read %a[%c0], %zero {in_bounds = [true, true], permutation_map = affine_map<(d0) -> (0, d0)>} : memref<8xf32>, vector<1x8xf32>
    gpu.return
  }

  // Columns may lie apart: the stride counts for the thread's first column and
  // for the one next to it.
  // CHECK-LABEL: llvm.func @columns_apart
  // CHECK-SAME: (%[[A:[^:]*]]: !llvm.ptr<1>, {{.*}}%[[STRIDE:[^:,]*]]: i64)
  gpu.func @columns_apart(%a: memref<8x1xf32, strided<[?, 1]>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    // CHECK: %[[FIRST:.*]] = llvm.mul %{{.*}}, %[[STRIDE]]
    // CHECK: llvm.load
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
    // CHECK: %[[NEXT:.*]] = llvm.mul %[[STRIDE]], %[[ONE]]
    // CHECK: llvm.getelementptr %{{.*}}[%[[NEXT]]]
    // CHECK: llvm.load
    %v = vector.transfer_read %a[%c0, %c0], %zero {in_bounds = [true, true], permutation_map = affine_map<(r, c) -> (c, r)>} : memref<8x1xf32, strided<[?, 1]>>, vector<1x8xf32>
    gpu.return
  }
}
