// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @any
  gpu.func @any(%x: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %rows = vector.step : vector<64xindex>
    %zero = vector.broadcast %c0 : index to vector<64xindex>
    // CHECK: %[[A:.*]] = llvm.icmp "ugt"
    // CHECK: %[[B:.*]] = llvm.icmp "ugt"
    %is = arith.cmpi ugt, %rows, %zero : vector<64xindex>
    // CHECK: %[[MINE:.*]] = llvm.or %[[A]], %[[B]]
    // CHECK: nvvm.vote.sync any %{{.*}}, %[[MINE]] -> i1
    %any = attn_gpu.warp_any %is : vector<64xi1>
    gpu.return
  }
}
