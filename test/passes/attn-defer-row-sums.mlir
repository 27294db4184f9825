// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-defer-row-sums)))' | FileCheck %s

gpu.module @kernels {
  // The parts stay apart from loop to loop.
  // CHECK-LABEL: gpu.func @two_loops
  // CHECK: scf.for
  // CHECK: attn_gpu.partial
  // CHECK: %[[PARTIAL:.*]] = scf.for
  // CHECK-NOT: attn_gpu.row_sum
  // CHECK: attn_gpu.partial
  // CHECK: attn_gpu.row_sum %[[PARTIAL]]
  gpu.func @two_loops(%p: vector<16x8xf32>, %a: vector<16xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %scaled = arith.mulf %l, %a : vector<16xf32>
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
      %next = arith.addf %scaled, %part : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    %more = scf.for %j = %n to %n step %c1 iter_args(%l = %sum) -> (vector<16xf32>) {
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
      %next = arith.addf %l, %part : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %more, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_exchange_for_all_uses
  // CHECK-COUNT-1: attn_gpu.row_sum
  // CHECK-NOT: attn_gpu.row_sum
  gpu.func @one_exchange_for_all_uses(%p: vector<16x8xf32>, %a: vector<16xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %scaled = arith.mulf %l, %a : vector<16xf32>
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
      %next = arith.addf %scaled, %part : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%n] : vector<16xf32>, memref<16xf32>
    vector.transfer_write %sum, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_used_in_the_loop
  // CHECK-NOT: attn_gpu
  gpu.func @negative_used_in_the_loop(%p: vector<16x8xf32>, %a: vector<16xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %scaled = arith.mulf %l, %a : vector<16xf32>
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
      %next = arith.addf %scaled, %part : vector<16xf32>
      vector.transfer_write %next, %o[%c0] : vector<16xf32>, memref<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_not_linear
  // CHECK-NOT: attn_gpu
  gpu.func @negative_not_linear(%p: vector<16x8xf32>, %a: vector<16xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %scaled = arith.mulf %l, %a : vector<16xf32>
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
      %square = arith.mulf %part, %part : vector<16xf32>
      %next = arith.addf %scaled, %square : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // A whole value among the parts would be counted once per lane.
  // CHECK-LABEL: gpu.func @negative_from_1
  // CHECK-NOT: attn_gpu
  gpu.func @negative_from_1(%p: vector<16x8xf32>, %a: vector<16xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %one = arith.constant dense<1.0> : vector<16xf32>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %one) -> (vector<16xf32>) {
      %scaled = arith.mulf %l, %a : vector<16xf32>
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
      %next = arith.addf %scaled, %part : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_column_sums
  // CHECK-NOT: attn_gpu
  gpu.func @negative_column_sums(%p: vector<8x16xf32>, %a: vector<16xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %scaled = arith.mulf %l, %a : vector<16xf32>
      %part = vector.multi_reduction <add>, %p, %zero [0] : vector<8x16xf32> to vector<16xf32>
      %next = arith.addf %scaled, %part : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_no_loop
  // CHECK-NOT: attn_gpu
  gpu.func @negative_no_loop(%p: vector<16x8xf32>, %a: vector<16xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %scaled = arith.mulf %l, %a : vector<16xf32>
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
      %next = arith.addf %scaled, %part : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    %alone = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
    vector.transfer_write %alone, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_other_elements
  // CHECK-NOT: attn_gpu
  gpu.func @negative_other_elements(%p: vector<16x8xf16>, %a: vector<16xf16>, %n: index, %o: memref<16xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16xf16>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf16>) {
      %scaled = arith.mulf %l, %a : vector<16xf16>
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf16> to vector<16xf16>
      %next = arith.addf %scaled, %part : vector<16xf16>
      scf.yield %next : vector<16xf16>
    }
    vector.transfer_write %sum, %o[%c0] : vector<16xf16>, memref<16xf16>
    gpu.return
  }
}
