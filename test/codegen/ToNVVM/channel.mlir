// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#l = #attn_gpu.panels<rows = 64, swizzle = 128>
#s = #attn_gpu.panels<rows = 8, swizzle = 32>
!channel = !attn_gpu.channel<64x128xbf16, stages = 3, #l>
!map = !attn_gpu.tensor_map<64x64xbf16, swizzle = 128>
!small = !attn_gpu.channel<8x16xbf16, stages = 1, #s>

gpu.module @kernels {
  // CHECK: llvm.mlir.global external @[[SHARED:.*]]() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  // 3 x 16384 and 256 bytes of tiles, then 8 barriers of 8 bytes.
  // CHECK-LABEL: llvm.func @places
  // CHECK-SAME: attn_gpu.shared_bytes = 49472
  gpu.func @places() kernel attributes {known_block_size = array<i32: 384, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // The first channel's full and empty barriers, for 2 consumers of 4 warps.
    // CHECK: %[[BASE:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
    // CHECK: llvm.cond_br
    // CHECK: %[[FULL:.*]] = llvm.mlir.constant(49408 : i32)
    // CHECK: llvm.add %[[BASE]], %[[FULL]]
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: nvvm.mbarrier.init %{{.*}}, %[[ONE]]
    // CHECK: %[[EMPTY:.*]] = llvm.mlir.constant(49432 : i32)
    // CHECK: llvm.add %[[BASE]], %[[EMPTY]]
    // CHECK: %[[WARPS:.*]] = llvm.mlir.constant(8 : i32)
    // CHECK: nvvm.mbarrier.init %{{.*}}, %[[WARPS]]
    // CHECK-COUNT-6: nvvm.mbarrier.init
    // CHECK-NOT: nvvm.mbarrier.init
    // Nobody but the block's threads looks at them.
    // CHECK-NOT: nvvm.fence
    // CHECK: nvvm.barrier
    %a = attn_gpu.channel consumers(2) : !channel
    // CHECK: llvm.mlir.constant(49152 : i32)
    // CHECK: llvm.mlir.constant(49456 : i32)
    %b = attn_gpu.channel consumers(1) : !small
    gpu.return
  }

  // The copy engine looks at barriers through a proxy of its own.
  // CHECK-LABEL: llvm.func @copy_engine
  gpu.func @copy_engine(%map: !map, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    // CHECK: nvvm.barrier
    %c = attn_gpu.channel consumers(1) : !channel
    attn_gpu.tma_load %map[%i, %i] to %c[%i] : !map to !channel
    gpu.return
  }
}
