// RUN: attn-opt %s -convert-attn-to-nvvm | FileCheck %s

// Loops stay loops for the assembler too.
// CHECK: gpu.module @kernels attributes {llvm.module_asm = [".pragma \22nounroll\22;"]}
gpu.module @kernels {
  // A loop carries what a thread holds, scalar by scalar.
  // CHECK-LABEL: llvm.func @carried
  // CHECK-SAME: %[[N:.*]]: i32, %[[X:.*]]: f32)
  gpu.func @carried(%n: index, %x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = vector.broadcast %x : f32 to vector<64x8xf32>
    // CHECK: llvm.br ^[[HEAD:.*]](%{{.*}}, %[[X]], %[[X]], %[[X]], %[[X]] : i32, f32, f32, f32, f32)
    // CHECK: ^[[HEAD]](%[[I:.*]]: i32, %[[V:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
    // CHECK: llvm.icmp "slt" %[[I]], %[[N]]
    // CHECK: llvm.fmul %[[V]], %[[X]]
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %v) -> vector<64x8xf32> {
      %p = arith.mulf %c, %v : vector<64x8xf32>
      scf.yield %p : vector<64x8xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: llvm.func @nothing_carried
  gpu.func @nothing_carried(%n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: ^{{.*}}(%[[I:.*]]: i32):
    // CHECK: llvm.mul %[[I]], %[[I]]
    scf.for %i = %c0 to %n step %c1 {
      %p = arith.muli %i, %i : index
    }
    gpu.return
  }

  // CHECK-LABEL: llvm.func @branch
  // CHECK-SAME: %[[X:.*]]: f32)
  gpu.func @branch(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %v = vector.broadcast %x : f32 to vector<64xf32>
    // CHECK: %[[C:.*]] = llvm.fcmp
    %c = arith.cmpf ogt, %x, %x : f32
    // CHECK: llvm.cond_br %[[C]]
    // CHECK: %[[NEG:.*]] = llvm.fneg
    // CHECK: llvm.br ^[[JOIN:.*]](%[[NEG]], %{{.*}} : f32, f32)
    // CHECK: llvm.br ^[[JOIN]](%[[X]], %[[X]] : f32, f32)
    %r = scf.if %c -> vector<64xf32> {
      %n = arith.negf %v : vector<64xf32>
      scf.yield %n : vector<64xf32>
    } else {
      scf.yield %v : vector<64xf32>
    }
    gpu.return
  }
}

// What a module says to the assembler already stays.
// CHECK: gpu.module @said attributes {llvm.module_asm = ["// first", ".pragma \22nounroll\22;"]}
gpu.module @said attributes {llvm.module_asm = ["// first"]} {
}
