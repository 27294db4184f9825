// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>

gpu.module @kernels {
  // Four registers of a row change lanes, in two steps of two shuffles; the
  // fifth stays.
  // CHECK-LABEL: llvm.func @exchange
  // CHECK-SAME: (%{{[^ ]*}}: !llvm.ptr<1>, %[[ROWS:[^ ]*]]: i32
  gpu.func @exchange(%o: memref<?x40xf16>, %v: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %wide = vector.broadcast %v : f32 to vector<64x40xf32>
    %half = arith.truncf %wide : vector<64x40xf32> to vector<64x40xf16>
    // CHECK: %[[ODD:.*]] = llvm.icmp "ne"
    // CHECK: %[[SENT:.*]] = llvm.select %[[ODD]], %[[LOW:.*]], %[[HIGH:.*]] : i1, i32
    // CHECK: %[[RECEIVED:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[SENT]]
    // CHECK: llvm.select %[[ODD]], %[[RECEIVED]], %[[LOW]]
    // CHECK: llvm.select %[[ODD]], %[[HIGH]], %[[RECEIVED]]
    // CHECK-COUNT-3: nvvm.shfl.sync bfly
    // CHECK-NOT: nvvm.shfl.sync bfly
    // All lanes have taken part before any of them looks whether its row is
    // inside.
    // CHECK: %[[INSIDE:.*]] = llvm.icmp "slt" %{{.*}}, %[[ROWS]]
    // CHECK: llvm.cond_br %[[INSIDE]]
    // CHECK: %[[LAST:.*]] = llvm.getelementptr %{{.*}}[64] : {{.*}}, i8
    // CHECK: llvm.store %{{.*}}, %[[LAST]] : i32
    // CHECK: %[[BITS:.*]] = llvm.ptrtoint %[[START:.*]] : !llvm.ptr<1> to i64
    // CHECK: %[[REST:.*]] = llvm.and %[[BITS]], %{{.*}} : i64
    // CHECK: %[[ALIGNED:.*]] = llvm.icmp "eq" %[[REST]]
    // CHECK: llvm.cond_br %[[ALIGNED]], ^[[WIDE:.*]], ^[[NARROW:.*]]
    // CHECK: ^[[WIDE]]:
    // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>
    // CHECK: ^[[NARROW]]:
    // CHECK-COUNT-4: llvm.store %{{.*}} : i32
    vector.transfer_write %half, %o[%c0, %c0] {in_bounds = [false, true]} : vector<64x40xf16>, memref<?x40xf16>
    gpu.return
  }

  // Between two pieces of a row lie those of the quad's other lanes.
  // CHECK-LABEL: llvm.func @pieces
  gpu.func @pieces(%o: memref<64x64xbf16>, %v: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %wide = vector.broadcast %v : f32 to vector<64x64xf32>
    %half = arith.truncf %wide : vector<64x64xf32> to vector<64x64xbf16>
    // CHECK: %[[FIRST:.*]] = llvm.getelementptr %{{.*}}[0]
    // CHECK: llvm.store %{{.*}}, %[[FIRST]] {alignment = 16 : i64}
    // CHECK: %[[SECOND:.*]] = llvm.getelementptr %{{.*}}[64]
    // CHECK: llvm.store %{{.*}}, %[[SECOND]] {alignment = 16 : i64}
    vector.transfer_write %half, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xbf16>, memref<64x64xbf16>
    gpu.return
  }

  // Where a row may end among the columns, every register goes out alone.
  // CHECK-LABEL: llvm.func @negative_columns_end
  // CHECK-NOT: nvvm.shfl.sync bfly
  // CHECK-NOT: vector<4xi32>
  // CHECK: llvm.return
  gpu.func @negative_columns_end(%o: memref<64x?xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<64x32xbf16>
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, false]} : vector<64x32xbf16>, memref<64x?xbf16>
    gpu.return
  }
}
