// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // The even column in the low half. Side effects keep it behind the wait for
  // the matmul that reads the register it writes.
  // CHECK-LABEL: llvm.func @pack
  // CHECK-SAME: %[[X:.*]]: i32)
  gpu.func @pack(%x: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %step = vector.step : vector<8xindex>
    %columns = vector.shape_cast %step : vector<8xindex> to vector<1x8xindex>
    %i = arith.index_cast %columns : vector<1x8xindex> to vector<1x8xi32>
    // CHECK: %[[EVEN:.*]] = llvm.sitofp
    // CHECK: %[[ODD:.*]] = llvm.sitofp
    %f = arith.sitofp %i : vector<1x8xi32> to vector<1x8xf32>
    %v = vector.broadcast %f : vector<1x8xf32> to vector<64x8xf32>
    // CHECK-COUNT-2: llvm.inline_asm has_side_effects "cvt.rn.bf16x2.f32 $0, $2, $1;", "=r,f,f" %[[EVEN]], %[[ODD]]
    // CHECK-NOT: cvt.rn.bf16x2
    %p = arith.truncf %v : vector<64x8xf32> to vector<64x8xbf16>
    // CHECK: cvt.rn.f16x2.f32
    %h = arith.truncf %v : vector<64x8xf32> to vector<64x8xf16>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @unpack
  gpu.func @unpack(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: %[[PAIR:.*]] = llvm.inline_asm {{.*}}cvt.rn.bf16x2
    // CHECK: cvt.rn.bf16x2
    %v = vector.broadcast %x : f32 to vector<64x8xf32>
    %p = arith.truncf %v : vector<64x8xf32> to vector<64x8xbf16>
    // CHECK: %[[HIGH:.*]] = llvm.lshr %[[PAIR]]
    // CHECK: llvm.trunc %[[PAIR]] : i32 to i16
    // CHECK: llvm.fpext %{{.*}} : bf16 to f32
    // CHECK: llvm.trunc %[[HIGH]] : i32 to i16
    %f = arith.extf %p : vector<64x8xbf16> to vector<64x8xf32>
    gpu.return
  }
}
