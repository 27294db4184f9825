// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#l = #attn_gpu.panels<rows = 64, swizzle = 128>
!ch = !attn_gpu.channel<64x64xbf16, stages = 1, #l>
!tile = !attn_gpu.tile<64x64xbf16, #l>
!ktile = !attn_gpu.tile<8x64xbf16, #l>

gpu.module @kernels {
  // The registers go through the wait, so that nothing on them moves above it.
  // CHECK-LABEL: llvm.func @wait
  gpu.func @wait() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %ch = attn_gpu.channel consumers(1) : !ch
    %t = attn_gpu.receive %ch[%c0] : !ch
    %k = attn_gpu.subtile %t[%c0] : !tile to !ktile
    // CHECK: llvm.inline_asm {{.*}}wgmma.mma_async
    // CHECK: %[[FLIGHT:.*]] = llvm.extractvalue %{{.*}}[0]
    %s = attn_gpu.mma_async %t, %k transpose_b : !tile, !ktile -> !attn_gpu.inflight<64x8xf32>
    // CHECK: %[[DONE:.*]] = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %[[FLIGHT]],
    // CHECK: %[[VALUE:.*]] = llvm.extractvalue %[[DONE]][0]
    %v = attn_gpu.mma_wait %s pending(1) : !attn_gpu.inflight<64x8xf32>
    // CHECK: llvm.fneg %[[VALUE]]
    %n = arith.negf %v : vector<64x8xf32>
    gpu.return
  }
}
