// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @both
  // CHECK-SAME: %[[S:.*]]: f32, %[[L:.*]]: i32, %[[U:.*]]: i32, %[[K:.*]]: i32)
  gpu.func @both(%s: f32, %l: index, %u: index, %key: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %v = vector.broadcast %s : f32 to vector<64x8xf32>
    %lower = vector.broadcast %l : index to vector<64xindex>
    %upper = vector.broadcast %u : index to vector<64xindex>
    // Both bounds of both rows, relative to the tile and in it to the thread's
    // first column.
    // CHECK: %[[L_IN_TILE:.*]] = llvm.sub %[[L]], %[[K]] : i32
    // CHECK-NEXT: %[[LOWER:.*]] = llvm.sub %[[L_IN_TILE]], %[[COLUMN:.*]] : i32
    // CHECK-NEXT: llvm.sub %[[L]], %[[K]]
    // CHECK-NEXT: llvm.sub %{{.*}}, %[[COLUMN]]
    // CHECK-NEXT: %[[U_IN_TILE:.*]] = llvm.sub %[[U]], %[[K]]
    // CHECK-NEXT: %[[UPPER:.*]] = llvm.sub %[[U_IN_TILE]], %[[COLUMN]]
    // CHECK-NEXT: %[[U8_IN_TILE:.*]] = llvm.sub %[[U]], %[[K]]
    // CHECK-NEXT: %[[UPPER8:.*]] = llvm.sub %[[U8_IN_TILE]], %[[COLUMN]]
    // CHECK: %[[HIDDEN:.*]] = llvm.mlir.constant(0xFF800000 : f32)
    // CHECK: %[[C0:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK: %[[BELOW:.*]] = llvm.icmp "slt" %[[C0]], %[[UPPER]]
    // CHECK: %[[MASKED:.*]] = llvm.select %[[BELOW]], %[[S]], %[[HIDDEN]]
    // CHECK: %[[ABOVE:.*]] = llvm.icmp "sge" %[[C0]], %[[LOWER]]
    // CHECK: llvm.select %[[ABOVE]], %[[MASKED]], %[[HIDDEN]]
    // CHECK: %[[C1:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: llvm.icmp "slt" %[[C1]], %[[UPPER]]
    // CHECK: llvm.icmp "slt" %{{.*}}, %[[UPPER8]]
    %t = attn.mask_band %v at(%key) [%lower, %upper] : vector<64x8xf32>, vector<64xindex>
    gpu.return
  }

  // No key comes before the first, so a lower end of 0 costs nothing.
  // CHECK-LABEL: llvm.func @negative_lower_end_of_0
  gpu.func @negative_lower_end_of_0(%s: f32, %u: index, %key: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %v = vector.broadcast %s : f32 to vector<64x8xf32>
    %lower = arith.constant dense<0> : vector<64xindex>
    %upper = vector.broadcast %u : index to vector<64xindex>
    // CHECK-NOT: llvm.icmp "sge"
    // CHECK: llvm.return
    %t = attn.mask_band %v at(%key) [%lower, %upper] : vector<64x8xf32>, vector<64xindex>
    gpu.return
  }
}
