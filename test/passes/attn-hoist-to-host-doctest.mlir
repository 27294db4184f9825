// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-hoist-to-host)))' | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @hoist
  // CHECK-SAME: %[[TILES:[^ ]*]]: index {attn_gpu.formula = "ceildiv(dim(0, 1), 192)"}
  // CHECK-NOT: arith.ceildivui
  // CHECK: memref.store %[[TILES]]
  gpu.func @hoist(%q: memref<?x?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c192 = arith.constant 192 : index
    %rows = memref.dim %q, %c1 : memref<?x?xindex>
    %tiles = arith.ceildivui %rows, %c192 : index
    memref.store %tiles, %q[%c0, %c0] : memref<?x?xindex>
    gpu.return
  }
}
