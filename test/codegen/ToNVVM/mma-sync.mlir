// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#q = #attn_gpu.panels<rows = 128, swizzle = 128>
#k = #attn_gpu.panels<rows = 32, swizzle = 128>
!qch = !attn_gpu.channel<128x72xbf16, stages = 1, #q>
!kch = !attn_gpu.channel<32x72xbf16, stages = 1, #k>
!hch = !attn_gpu.channel<16x24xf16, stages = 1, #attn_gpu.panels<rows = 16, swizzle = 128>>
!qtile = !attn_gpu.tile<128x72xbf16, #q>
!mine = !attn_gpu.tile<32x72xbf16, #q>
!ktile = !attn_gpu.tile<32x72xbf16, #k>
!htile = !attn_gpu.tile<16x24xf16, #attn_gpu.panels<rows = 16, swizzle = 128>>

gpu.module @kernels {
  // Q K^T of 32x32: 5 steps of 16, each with 2 blocks of A, 2 blocks of B and
  // 2 x 4 products.
  // CHECK-LABEL: llvm.func @scores
  gpu.func @scores() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %c0 = arith.constant 0 : index
    %qch = attn_gpu.channel consumers(4) : !qch
    %kch = attn_gpu.channel consumers(4) : !kch
    %q = attn_gpu.receive %qch[%c0] : !qch
    %k = attn_gpu.receive %kch[%c0] : !kch
    %mine = attn_gpu.subtile %q[%c0] : !qtile to !mine
    // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0.000000e+00 : f32)
    // CHECK-NOT: col
    // CHECK: nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
    // The second slab, 16 rows of 128 bytes below.
    // CHECK: llvm.mlir.constant(2048 : i32)
    // CHECK: nvvm.ldmatrix
    // CHECK: nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
    // CHECK: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[%[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]]]
    // CHECK-SAME: layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>
    // CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 16>
    // CHECK-COUNT-3: nvvm.mma.sync
    // CHECK: nvvm.ldmatrix
    // CHECK-COUNT-4: nvvm.mma.sync
    // The next 16 columns lie where XOR with 32 says, the fifth in the next
    // panel.
    // CHECK: %[[NEXT:.*]] = llvm.mlir.constant(32 : i32)
    // CHECK: llvm.xor %{{.*}}, %[[NEXT]]
    // CHECK-COUNT-24: nvvm.mma.sync
    // CHECK: llvm.mlir.constant(16384 : i32)
    // CHECK: nvvm.ldmatrix
    // CHECK-COUNT-8: nvvm.mma.sync
    // CHECK-NOT: nvvm.mma.sync
    %s = attn_gpu.mma_async %mine, %k transpose_b : !mine, !ktile -> !attn_gpu.inflight<32x32xf32>
    %0 = attn_gpu.mma_wait %s pending(0) : !attn_gpu.inflight<32x32xf32>
    // CHECK: llvm.return
    gpu.return
  }

  // P V with P in registers and 24 columns: a block of 16 and half of one.
  // CHECK-LABEL: llvm.func @values
  // CHECK-SAME: %[[X:.*]]: f32)
  gpu.func @values(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    %c0 = arith.constant 0 : index
    %vch = attn_gpu.channel consumers(4) : !hch
    %v = attn_gpu.receive %vch[%c0] : !hch
    %p32 = vector.broadcast %x : f32 to vector<16x16xf32>
    %p = arith.truncf %p32 : vector<16x16xf32> to vector<16x16xf16>
    %acc = vector.broadcast %x : f32 to vector<16x24xf32>
    // CHECK: nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
    // CHECK: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[%[[X]], %[[X]], %[[X]], %[[X]]]
    // CHECK-SAME: vector<2xf16>
    // CHECK: nvvm.mma.sync
    // CHECK: nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<col>, num = 2 : i32
    // CHECK: nvvm.mma.sync
    // CHECK-NOT: nvvm.mma.sync
    %o = attn_gpu.mma_async %p, %v accumulator(%acc : vector<16x24xf32>) : vector<16x16xf16>, !htile -> !attn_gpu.inflight<16x24xf32>
    // CHECK: llvm.return
    gpu.return
  }
}
