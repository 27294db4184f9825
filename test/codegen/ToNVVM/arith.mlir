// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

gpu.module @kernels {
  // An index is 32 bits wide.
  // CHECK-LABEL: llvm.func @integers
  // CHECK-SAME: %[[X:.*]]: i32, %[[Y:.*]]: i32)
  gpu.func @integers(%x: index, %y: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: llvm.add %[[X]], %[[Y]] : i32
    %add = arith.addi %x, %y : index
    // CHECK: llvm.intr.smin(%[[X]], %[[Y]])
    %min = arith.minsi %x, %y : index
    // CHECK: llvm.urem %[[X]], %[[Y]]
    %rem = arith.remui %x, %y : index
    // CHECK: llvm.icmp "slt" %[[X]], %[[Y]]
    %lt = arith.cmpi slt, %x, %y : index
    // CHECK: %[[SUM:.*]] = llvm.add %[[X]], %[[Y]]
    // CHECK: %[[UP:.*]] = llvm.sub %[[SUM]]
    // CHECK: llvm.udiv %[[UP]], %[[Y]]
    %ceil = arith.ceildivui %x, %y : index
    // CHECK: llvm.sext %[[X]] : i32 to i64
    %wide = arith.index_cast %x : index to i64
    // CHECK: llvm.zext %[[X]] : i32 to i64
    %wideU = arith.index_castui %x : index to i64
    gpu.return
  }

  // The quotient, less one where there is a remainder and the signs differ.
  // CHECK-LABEL: llvm.func @floor
  // CHECK-SAME: %[[X:.*]]: i32, %[[Y:.*]]: i32)
  gpu.func @floor(%x: index, %y: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // CHECK: %[[MINUS_1:.*]] = llvm.mlir.constant(-1 : i32)
    // CHECK-DAG: %[[DIV:.*]] = llvm.sdiv %[[X]], %[[Y]]
    // CHECK-DAG: %[[REM:.*]] = llvm.srem %[[X]], %[[Y]]
    // CHECK-DAG: %[[INEXACT:.*]] = llvm.icmp "ne" %[[REM]]
    // CHECK-DAG: %[[SIGNS:.*]] = llvm.xor %[[X]], %[[Y]]
    // CHECK-DAG: %[[DIFFER:.*]] = llvm.icmp "slt" %[[SIGNS]]
    // CHECK: %[[BOTH:.*]] = llvm.and %[[INEXACT]], %[[DIFFER]]
    // CHECK: llvm.select %[[BOTH]], %{{.*}}, %[[DIV]]
    %floor = arith.floordivsi %x, %y : index
    gpu.return
  }

  // One op per scalar that a thread holds, with its flags and no others.
  // CHECK-LABEL: llvm.func @floats
  // CHECK-SAME: %[[X:.*]]: f32, %[[C:.*]]: i32)
  gpu.func @floats(%x: f32, %c: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %v = vector.broadcast %x : f32 to vector<64x8xf32>
    // CHECK-COUNT-4: llvm.fmul %[[X]], %[[X]] : f32
    // CHECK-NOT: llvm.fmul
    %mul = arith.mulf %v, %v : vector<64x8xf32>
    // CHECK: llvm.fadd %[[X]], %[[X]] {fastmathFlags = #llvm.fastmath<contract>}
    %add = arith.addf %x, %x fastmath<contract> : f32
    // CHECK: llvm.intr.maxnum(%[[X]], %{{.*}})
    %max = arith.maxnumf %x, %add : f32
    // CHECK: %[[LESS:.*]] = llvm.fcmp "ole" %[[X]], %[[X]]
    %less = arith.cmpf ole, %x, %x : f32
    // A scalar condition holds for every scalar.
    // CHECK-COUNT-4: llvm.select %[[LESS]]
    %s = arith.select %less, %v, %mul : vector<64x8xf32>
    // CHECK: llvm.bitcast %[[X]] : f32 to i32
    %bits = arith.bitcast %x : f32 to i32
    // CHECK: llvm.fptrunc %[[X]] : f32 to bf16
    %t = arith.truncf %x : f32 to bf16
    gpu.return
  }
}
