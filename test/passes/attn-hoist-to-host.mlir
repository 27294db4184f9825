// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-hoist-to-host)))' | FileCheck %s

gpu.module @kernels {
  // Only what is used in the kernel becomes an argument.
  // CHECK-LABEL: gpu.func @formula_of_formulas
  // CHECK-SAME: (%{{[^ ]*}}: memref<?x?xindex>, %[[END:[^ ]*]]: index {attn_gpu.formula = "max(((dim(0, 0) * dim(0, 1)) - 1), 0)"})
  // CHECK: memref.store %[[END]]
  gpu.func @formula_of_formulas(%q: memref<?x?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %q, %c0 : memref<?x?xindex>
    %columns = memref.dim %q, %c1 : memref<?x?xindex>
    %product = arith.muli %rows, %columns : index
    %last = arith.subi %product, %c1 : index
    %end = arith.maxsi %last, %c0 : index
    memref.store %end, %q[%c0, %c0] : memref<?x?xindex>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_size_alone
  // CHECK-NOT: attn_gpu.formula
  // CHECK: memref.dim
  gpu.func @negative_size_alone(%q: memref<?x?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %rows = memref.dim %q, %c0 : memref<?x?xindex>
    memref.store %rows, %q[%c0, %c0] : memref<?x?xindex>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_value_of_an_argument
  // CHECK-NOT: attn_gpu.formula
  // CHECK: arith.addi
  gpu.func @negative_value_of_an_argument(%q: memref<?x?xindex>, %n: index) kernel {
    %c1 = arith.constant 1 : index
    %next = arith.addi %n, %c1 : index
    memref.store %next, %q[%c1, %c1] : memref<?x?xindex>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_inside_a_loop
  // CHECK-NOT: attn_gpu.formula
  // CHECK: scf.for
  // CHECK: arith.divui
  gpu.func @negative_inside_a_loop(%q: memref<?x?xindex>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %q, %c0 : memref<?x?xindex>
    scf.for %i = %c0 to %n step %c1 {
      %share = arith.divui %rows, %i : index
      memref.store %share, %q[%i, %c0] : memref<?x?xindex>
    }
    gpu.return
  }
}
