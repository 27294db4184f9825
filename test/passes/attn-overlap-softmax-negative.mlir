// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' -verify-diagnostics | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
#no_overlap = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = false,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!channel = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!fragment = vector<64x16xf32>


gpu.module @kernels {
  // Copies belong to the producer: here they would be a visit late.
  // CHECK-LABEL: gpu.func @negative_copies_in_the_loop
  // CHECK-NOT: pending(1)
  // expected-remark @below {{not overlapped: expected loops of two matmuls with tiles from channels}}
  gpu.func @negative_copies_in_the_loop(%q: vector<64x16xbf16>, %map: !attn_gpu.tensor_map<16x64xbf16, swizzle = 128>, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      attn_gpu.tma_load %map[%j, %c0] to %k[%j] : !attn_gpu.tensor_map<16x64xbf16, swizzle = 128> to !channel
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_weights_used_twice
  // CHECK-NOT: pending(1)
  // expected-remark @below {{not overlapped: expected loops of two matmuls with tiles from channels}}
  gpu.func @negative_weights_used_twice(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %shown = arith.extf %rounded : vector<64x16xbf16> to !fragment
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_one_matmul
  // CHECK-NOT: pending(1)
  // expected-remark @below {{not overlapped: expected loops of two matmuls with tiles from channels}}
  gpu.func @negative_one_matmul(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %weights = math.exp2 %acc : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_steps_of_2
  // CHECK-NOT: pending(1)
  // expected-remark @below {{not overlapped: expected loops of two matmuls with tiles from channels}}
  gpu.func @negative_steps_of_2(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c2 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // Keys and values in one tile are released once.
  // CHECK-LABEL: gpu.func @negative_shared_tile
  // CHECK-NOT: pending(1)
  // expected-remark @below {{not overlapped: expected loops of two matmuls with tiles from channels}}
  gpu.func @negative_shared_tile(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %product = attn_gpu.mma_async %rounded, %keys accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      scf.yield %next : !fragment
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_weights_in_f32
  // CHECK-NOT: pending(1)
  // expected-remark @below {{not overlapped: expected loops of two matmuls with tiles from channels}}
  gpu.func @negative_weights_in_f32(%q: vector<64x16xbf16>, %n: index, %scored: vector<64x16xi16>, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.bitcast %scored : vector<64x16xi16> to vector<64x16xbf16>
      %used = arith.addf %weights, %weights : !fragment
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_result_not_carried
  // CHECK-NOT: pending(1)
  // expected-remark @below {{not overlapped: expected loops of two matmuls with tiles from channels}}
  gpu.func @negative_result_not_carried(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %acc : !fragment
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_no_overlap_wanted
  // CHECK-NOT: pending(1)
  gpu.func @negative_no_overlap_wanted(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #no_overlap} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // A loop whose results are used elsewhere is a pipeline of its own.
  // CHECK-LABEL: gpu.func @negative_chain_with_another_use
  // CHECK-COUNT-2: scf.if
  gpu.func @negative_chain_with_another_use(%q: vector<64x16xbf16>, %n: index, %m: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %sum, %o[%c1, %c0] : !fragment, memref<64x16xf32>
    %more = scf.for %j = %n to %m step %c1 iter_args(%acc = %sum) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %more, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_chain_with_a_gap
  // CHECK-COUNT-2: scf.if
  gpu.func @negative_chain_with_a_gap(%q: vector<64x16xbf16>, %n: index, %m: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    %more = scf.for %j = %m to %m step %c1 iter_args(%acc = %sum) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %scores = attn_gpu.mma_wait %started pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %k[%j] : !channel
      %weights = math.exp2 %scores : !fragment
      %rounded = arith.truncf %weights : !fragment to vector<64x16xbf16>
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%acc : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %more, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }
}
