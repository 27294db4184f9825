// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @constants
  // CHECK-SAME: %[[X:.*]]: f32)
  gpu.func @constants(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: llvm.mlir.constant(-5 : i32) : i32
    %index = arith.constant -5 : index
    // CHECK: %[[INF:.*]] = llvm.mlir.constant(0xFF800000 : f32) : f32
    %inf = arith.constant dense<0xFF800000> : vector<64xf32>
    // CHECK: llvm.fsub %[[X]], %[[INF]]
    // CHECK-NEXT: llvm.fsub %[[X]], %[[INF]]
    %v = vector.broadcast %x : f32 to vector<64xf32>
    %difference = arith.subf %v, %inf : vector<64xf32>
    // Two bf16 to a register: 0x3F803F80.
    // CHECK: llvm.mlir.constant(1065369472 : i32) : i32
    %one = arith.constant dense<1.0> : vector<64x8xbf16>
    // CHECK: llvm.mlir.poison : f32
    %poison = ub.poison : vector<64x8xf32>
    gpu.return
  }
}
