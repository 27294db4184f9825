// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#q = #attn_gpu.panels<rows = 128, swizzle = 128>
#k = #attn_gpu.panels<rows = 80, swizzle = 128>
#n = #attn_gpu.panels<rows = 32, swizzle = 32>
!qch = !attn_gpu.channel<128x80xbf16, stages = 1, #q>
!kch = !attn_gpu.channel<80x80xbf16, stages = 1, #k>
!nch = !attn_gpu.channel<32x16xf16, stages = 1, #n>
!qtile = !attn_gpu.tile<128x80xbf16, #q>
!mine = !attn_gpu.tile<64x80xbf16, #q>
!ktile = !attn_gpu.tile<80x80xbf16, #k>

gpu.module @kernels {
  // Both operands in shared memory: 5 steps of 16, of which 4 in the first
  // panel (2 units of 16 bytes apart) and 1 in the second (128 rows of A, 80 of
  // B, of 8 units each).
  // CHECK-LABEL: llvm.func @shared
  gpu.func @shared() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %qch = attn_gpu.channel consumers(1) : !qch
    %kch = attn_gpu.channel consumers(1) : !kch
    %q = attn_gpu.receive %qch[%c0] : !qch
    %k = attn_gpu.receive %kch[%c0] : !kch
    %mine = attn_gpu.subtile %q[%c0] : !qtile to !mine
    // The lower half of a descriptor: address in units of 16 bytes, leading
    // offset 1.
    // CHECK: %[[MASK:.*]] = llvm.mlir.constant(262143 : i32)
    // CHECK: %[[ADDRESS:.*]] = llvm.and %{{.*}}, %[[MASK]]
    // CHECK: %[[UNITS:.*]] = llvm.lshr %[[ADDRESS]]
    // CHECK: %[[FIELDS:.*]] = llvm.mlir.constant(65536 : i32)
    // CHECK: %[[B:.*]] = llvm.or %[[UNITS]], %[[FIELDS]]
    // CHECK: %[[A:.*]] = llvm.or
    // CHECK: llvm.inline_asm has_side_effects "{
    // CHECK-SAME: mov.b32 a_high, 1073741888;
    // CHECK-SAME: wgmma.fence.sync.aligned;
    // The first step overwrites: what the registers held does not matter.
    // CHECK-SAME: add.s32 a_low, $40, 0;
    // CHECK-SAME: add.s32 b_low, $41, 0;
    // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n80k16.f32.bf16.bf16 {$0, {{.*}}, $39}, a, b, 0, 1, 1, 0, 0;
    // CHECK-SAME: add.s32 a_low, $40, 6;
    // CHECK-SAME: add.s32 a_low, $40, 1024;
    // CHECK-SAME: add.s32 b_low, $41, 640;
    // CHECK-SAME: $39}, a, b, 1, 1, 1, 0, 0;
    // CHECK-SAME: wgmma.commit_group.sync.aligned;
    // CHECK-SAME: "=f,{{.*}},=f,r,r,~{memory}" %[[A]], %[[B]]
    // CHECK-COUNT-40: llvm.extractvalue
    // CHECK-NOT: llvm.extractvalue
    %s = attn_gpu.mma_async %mine, %k transpose_b : !mine, !ktile -> !attn_gpu.inflight<64x80xf32>
    gpu.return
  }

  // A in registers, B across its rows: panels 80 rows of 128 bytes apart, steps
  // of 16 rows.
  // CHECK-LABEL: llvm.func @registers
  // CHECK-SAME: %[[X:.*]]: f32)
  gpu.func @registers(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %kch = attn_gpu.channel consumers(1) : !kch
    %v = attn_gpu.receive %kch[%c0] : !kch
    %p32 = vector.broadcast %x : f32 to vector<64x80xf32>
    %p = arith.truncf %p32 : vector<64x80xf32> to vector<64x80xbf16>
    %acc = vector.broadcast %x : f32 to vector<64x80xf32>
    // CHECK: llvm.mlir.constant(41943040 : i32)
    // CHECK: %[[B:.*]] = llvm.or
    // CHECK: llvm.inline_asm has_side_effects "{
    // CHECK-SAME: wgmma.fence.sync.aligned;
    // CHECK-SAME: $39}, {$80, $81, $82, $83}, b, 1, 1, 1, 1;
    // CHECK-SAME: add.s32 b_low, $100, 512;
    // CHECK-SAME: $39}, {$96, $97, $98, $99}, b, 1, 1, 1, 1;
    // CHECK-SAME: =f,0,1,
    // CHECK-SAME: ,39,r,r,
    // CHECK-SAME: %[[X]], %{{.*}}, %[[B]] :
    %o = attn_gpu.mma_async %p, %v accumulator(%acc : vector<64x80xf32>) : vector<64x80xbf16>, !ktile -> !attn_gpu.inflight<64x80xf32>
    gpu.return
  }

  // An accumulator of zeros is none.
  // CHECK-LABEL: llvm.func @zeros
  gpu.func @zeros(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %nch = attn_gpu.channel consumers(1) : !nch
    %v = attn_gpu.receive %nch[%c0] : !nch
    %p32 = vector.broadcast %x : f32 to vector<64x32xf32>
    %p = arith.truncf %p32 : vector<64x32xf32> to vector<64x32xf16>
    %acc = arith.constant dense<0.0> : vector<64x16xf32>
    // Swizzle of 32 bytes: mode 3, groups of 8 rows 256 bytes apart.
    // CHECK: mov.b32 b_high, 3221225488;
    // CHECK-SAME: m64n16k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$8, $9, $10, $11}, b, 0, 1, 1, 1;
    %o = attn_gpu.mma_async %p, %v accumulator(%acc : vector<64x16xf32>) : vector<64x32xf16>, !attn_gpu.tile<32x16xf16, #n> -> !attn_gpu.inflight<64x16xf32>
    gpu.return
  }

  // Two slabs of 64 rows are two chains of one group.
  // CHECK-LABEL: llvm.func @slabs
  gpu.func @slabs() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %qch = attn_gpu.channel consumers(1) : !qch
    %kch = attn_gpu.channel consumers(1) : !kch
    %q = attn_gpu.receive %qch[%c0] : !qch
    %k = attn_gpu.receive %kch[%c0] : !kch
    // CHECK: wgmma.mma_async
    // CHECK-NOT: commit_group
    // 64 rows of 128 bytes on.
    // CHECK: llvm.mlir.constant(8192 : i32)
    // CHECK: wgmma.mma_async
    // CHECK-SAME: wgmma.commit_group
    %s = attn_gpu.mma_async %q, %k transpose_b : !qtile, !ktile -> !attn_gpu.inflight<128x80xf32>
    gpu.return
  }
}
