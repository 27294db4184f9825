// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

// Pointer, dynamic sizes, dynamic strides; a map by value; an index as i32.
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @parameters
  // CHECK-SAME: (%{{[^:]*}}: !llvm.ptr<1>, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i64,
  // CHECK-SAME: %{{[^:]*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
  // CHECK-SAME: %{{[^:]*}}: f32, %{{[^:]*}}: i32)
  // CHECK-SAME: attn_gpu.shared_bytes = 0
  // CHECK-SAME: nvvm.kernel
  // CHECK-SAME: nvvm.minctasm = 1
  // CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
  gpu.func @parameters(%a: memref<?x4x?xf32, strided<[?, 128, 1], offset: ?>>,
                       %map: !attn_gpu.tensor_map<64x64xbf16, swizzle = 128>,
                       %s: f32, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: llvm.return
    gpu.return
  }

  // CHECK-LABEL: llvm.func @dim
  // CHECK-SAME: (%{{[^:]*}}: !llvm.ptr<1>, %{{[^:]*}}: i32, %[[LAST:[^:]*]]: i32
  gpu.func @dim(%a: memref<?x4x?xf32>, %o: memref<2xi32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // CHECK: %[[STATIC:.*]] = llvm.mlir.constant(4 : i32)
    %static = memref.dim %a, %c1 : memref<?x4x?xf32>
    %last = memref.dim %a, %c2 : memref<?x4x?xf32>
    // CHECK: llvm.add %{{.*}}, %[[LAST]]
    %sum = arith.addi %static, %last : index
    gpu.return
  }

  // CHECK-LABEL: llvm.func @coordinates
  gpu.func @coordinates() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: nvvm.read.ptx.sreg.ctaid.x : i32
    %block = gpu.block_id x
    // CHECK: nvvm.read.ptx.sreg.nctaid.x : i32
    %grid = gpu.grid_dim x
    gpu.return
  }
}
