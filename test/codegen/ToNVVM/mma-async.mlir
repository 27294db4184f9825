// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#q = #attn_gpu.panels<rows = 128, swizzle = 128>
#k = #attn_gpu.panels<rows = 80, swizzle = 128>
#w = #attn_gpu.panels<rows = 64, swizzle = 128>
#v = #attn_gpu.panels<rows = 32, swizzle = 128>
#n = #attn_gpu.panels<rows = 32, swizzle = 32>
!qch = !attn_gpu.channel<128x80xbf16, stages = 1, #q>
!kch = !attn_gpu.channel<80x80xbf16, stages = 1, #k>
!vch = !attn_gpu.channel<32x256xbf16, stages = 1, #v>
!wch = !attn_gpu.channel<64x32xbf16, stages = 1, #w>
!nch = !attn_gpu.channel<32x16xf16, stages = 1, #n>
!qtile = !attn_gpu.tile<128x80xbf16, #q>
!mine = !attn_gpu.tile<64x80xbf16, #q>
!ktile = !attn_gpu.tile<80x80xbf16, #k>

#few = #attn.schedule<style = fa3, target = "sm_90a", rows = 192, keys = 64,
                      workers = 3, query_stages = 1, stages = 1, registers = [32, 160],
                      overlap = true, rescale_threshold = 8, persistent = false,
                      descending = false>
#narrow = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 32,
                         workers = 1, query_stages = 1, stages = 1, registers = [24, 240],
                         overlap = true, rescale_threshold = 8, persistent = false,
                         descending = false, product_columns = 192>

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
    // A descriptor: address in units of 16 bytes, leading offset 1, groups of
    // 8 rows 1024 bytes apart, swizzle of 128 bytes.
    // CHECK: %[[MASK:.*]] = llvm.mlir.constant(262143 : i32)
    // CHECK: %[[ADDRESS:.*]] = llvm.and %{{.*}}, %[[MASK]]
    // CHECK: %[[UNITS:.*]] = llvm.lshr %[[ADDRESS]]
    // CHECK: %[[WIDE:.*]] = llvm.zext %[[UNITS]] : i32 to i64
    // CHECK: %[[FIELDS:.*]] = llvm.mlir.constant(4611686293305360384 : i64)
    // CHECK: %[[B0:.*]] = llvm.or %[[WIDE]], %[[FIELDS]]
    // CHECK: llvm.mlir.constant(6 : i64)
    // CHECK: %[[B3:.*]] = llvm.add %[[B0]]
    // CHECK: llvm.mlir.constant(640 : i64)
    // CHECK: %[[B4:.*]] = llvm.add %[[B0]]
    // CHECK: %[[A0:.*]] = llvm.or
    // CHECK: llvm.mlir.constant(1024 : i64)
    // CHECK: %[[A4:.*]] = llvm.add %[[A0]]
    // CHECK: llvm.inline_asm has_side_effects "{{[{]}}\0Awgmma.fence.sync.aligned;
    // The first step overwrites: what the registers held does not matter.
    // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n80k16.f32.bf16.bf16 {$0, {{.*}}, $39}, $40, $45, 0, 1, 1, 0, 0;
    // CHECK-SAME: $39}, $44, $49, 1, 1, 1, 0, 0;
    // CHECK-SAME: wgmma.commit_group.sync.aligned;\0A}", "=f,
    // CHECK-SAME: =f,l,l,l,l,l,l,l,l,l,l,~{memory}" %[[A0]],
    // CHECK-SAME: %[[A4]], %[[B0]],
    // CHECK-SAME: %[[B3]], %[[B4]] :
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
    // CHECK: llvm.mlir.constant(4611686293347237888 : i64)
    // CHECK: %[[B0:.*]] = llvm.or
    // CHECK: llvm.mlir.constant(512 : i64)
    // CHECK: %[[B4:.*]] = llvm.add %[[B0]]
    // CHECK: llvm.inline_asm has_side_effects "{{[{]}}\0Awgmma.fence.sync.aligned;
    // CHECK-SAME: $39}, {$80, $81, $82, $83}, $100, 1, 1, 1, 1;
    // CHECK-SAME: $39}, {$96, $97, $98, $99}, $104, 1, 1, 1, 1;
    // CHECK-SAME: =f,0,1,
    // CHECK-SAME: ,39,r,
    // CHECK-SAME: ,r,l,l,l,l,l,~{memory}" %[[X]], %{{.*}}, %[[B4]] :
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
    // CHECK: llvm.mlir.constant(-4611685949703716864 : i64)
    // CHECK: m64n16k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$8, $9, $10, $11}, $16, 0, 1, 1, 1;
    %o = attn_gpu.mma_async %p, %v accumulator(%acc : vector<64x16xf32>) : vector<64x32xf16>, !attn_gpu.tile<32x16xf16, #n> -> !attn_gpu.inflight<64x16xf32>
    gpu.return
  }

  // Where registers are few, the schedule keeps not every step's descriptor.
  // CHECK-LABEL: llvm.func @few_registers
  gpu.func @few_registers() kernel attributes {known_block_size = array<i32: 512, 1, 1>, attn_gpu.warps_per_worker = 4 : i64, attn.schedule = #few} {
    %c0 = arith.constant 0 : index
    %wide = attn_gpu.channel consumers(1) : !attn_gpu.channel<64x128xbf16, stages = 1, #w>
    attn_gpu.specialize producer(32) {
    } consumers(3, 160) {
      %q = attn_gpu.receive %wide[%c0] : !attn_gpu.channel<64x128xbf16, stages = 1, #w>
      // CHECK: .reg .b64 a0;
      // CHECK-SAME: add.s64 a0, $37, 2;
      // CHECK-SAME: add.s64 a1, $37, 4;
      // CHECK-SAME: {$0, {{.*}}, $31}, $37, $43, 1, 1, 1, 0, 0;
      // CHECK-SAME: {$0, {{.*}}, $31}, a0, $44, 1, 1, 1, 0, 0;
      // CHECK-SAME: {$0, {{.*}}, $31}, a1, $45, 1, 1, 1, 0, 0;
      %s = attn_gpu.mma_async %q, %q transpose_b : !attn_gpu.tile<64x128xbf16, #w>, !attn_gpu.tile<64x128xbf16, #w> -> !attn_gpu.inflight<64x64xf32>
    }
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

  // With A in registers, 256 columns are two chains of one group. The second
  // reads two panels on, 2 x 32 rows of 128 bytes.
  // CHECK-LABEL: llvm.func @wide_of_registers
  gpu.func @wide_of_registers(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %vch = attn_gpu.channel consumers(1) : !vch
    %v = attn_gpu.receive %vch[%c0] : !vch
    %p32 = vector.broadcast %x : f32 to vector<64x32xf32>
    %p = arith.truncf %p32 : vector<64x32xf32> to vector<64x32xbf16>
    // CHECK: m64n128k16
    // CHECK-NOT: commit_group
    // CHECK: llvm.mlir.constant(8192 : i32)
    // CHECK: m64n128k16
    // CHECK-SAME: wgmma.commit_group
    %o = attn_gpu.mma_async %p, %v : vector<64x32xbf16>, !attn_gpu.tile<32x256xbf16, #v> -> !attn_gpu.inflight<64x256xf32>
    gpu.return
  }

  // As many columns as the schedule says, and the rest: three panels on.
  // CHECK-LABEL: llvm.func @columns_of_the_schedule
  gpu.func @columns_of_the_schedule(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64, attn.schedule = #narrow} {
    %c0 = arith.constant 0 : index
    %vch = attn_gpu.channel consumers(1) : !vch
    %v = attn_gpu.receive %vch[%c0] : !vch
    %p32 = vector.broadcast %x : f32 to vector<64x32xf32>
    %p = arith.truncf %p32 : vector<64x32xf32> to vector<64x32xbf16>
    // CHECK: m64n192k16
    // CHECK: llvm.mlir.constant(12288 : i32)
    // CHECK: m64n64k16
    %o = attn_gpu.mma_async %p, %v : vector<64x32xbf16>, !attn_gpu.tile<32x256xbf16, #v> -> !attn_gpu.inflight<64x256xf32>
    gpu.return
  }

  // With A in shared memory they are one.
  // CHECK-LABEL: llvm.func @wide_of_shared
  gpu.func @wide_of_shared() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %vch = attn_gpu.channel consumers(1) : !vch
    %wch = attn_gpu.channel consumers(1) : !wch
    %v = attn_gpu.receive %vch[%c0] : !vch
    %w = attn_gpu.receive %wch[%c0] : !wch
    // CHECK: m64n256k16
    %s = attn_gpu.mma_async %w, %v : !attn_gpu.tile<64x32xbf16, #w>, !attn_gpu.tile<32x256xbf16, #v> -> !attn_gpu.inflight<64x256xf32>
    gpu.return
  }
}
