// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>
!channel = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!fragment = vector<64x16xf32>


gpu.module @kernels {
  // Where nothing is visited, what came in goes out.
  // CHECK-LABEL: gpu.func @no_visit
  // CHECK: %[[ZERO:[^ ]*]] = arith.constant dense<0.000000e+00>
  // CHECK: %[[ANY:[^ ]*]] = arith.cmpi sgt
  // CHECK: scf.if %[[ANY]]
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[ZERO]]
  gpu.func @no_visit(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
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
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // The first scores come before the loop, the last product behind it.
  // CHECK-LABEL: gpu.func @first_and_last_visit
  // CHECK: attn_gpu.mma_async {{.*}} transpose_b
  // CHECK: %[[FIRST:[^ ]*]] = arith.truncf
  // CHECK: %[[R:[^ ]*]]:2 = scf.for {{.*}}, %{{[^ ]*}} = %[[FIRST]])
  // CHECK: scf.yield
  // CHECK: attn_gpu.mma_async %[[R]]#1, %{{.*}} accumulator(%[[R]]#0
  // CHECK: scf.yield
  gpu.func @first_and_last_visit(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
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
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // An iteration multiplies the weights of the visit before with its values.
  // CHECK-LABEL: gpu.func @previous_tile
  // CHECK: scf.for %[[VISIT:[^ ]*]] =
  // CHECK: attn_gpu.receive %{{[^ ]*}}[%[[VISIT]]]
  // CHECK: %[[BEFORE:[^ ]*]] = arith.subi %[[VISIT]]
  // CHECK: attn_gpu.receive %{{[^ ]*}}[%[[BEFORE]]]
  gpu.func @previous_tile(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
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
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // The pipeline does not drain between loops.
  // CHECK-LABEL: gpu.func @chain
  // CHECK: scf.if
  // CHECK: %[[R:[^ ]*]]:2 = scf.for
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.for {{.*}} = %[[R]]#0, %{{[^ ]*}} = %[[R]]#1)
  gpu.func @chain(%q: vector<64x16xbf16>, %n: index, %m: index, %o: memref<64x16xf32>) kernel
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

  // What scales the accumulator waits for the product before.
  // CHECK-LABEL: gpu.func @rescaling_follows
  // CHECK: scf.for
  // CHECK: math.exp2
  // CHECK: %[[PRODUCT:[^ ]*]] = attn_gpu.mma_wait %{{[^ ]*}} pending(0)
  // CHECK: arith.mulf %[[PRODUCT]]
  // CHECK: arith.truncf
  gpu.func @rescaling_follows(%q: vector<64x16xbf16>, %n: index, %o: memref<64x16xf32>) kernel
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
      %scaled = arith.mulf %acc, %weights : !fragment
      %values = attn_gpu.receive %v[%j] : !channel
      %product = attn_gpu.mma_async %rounded, %values accumulator(%scaled : !fragment) : vector<64x16xbf16>, !tile -> !attn_gpu.inflight<64x16xf32>
      %next = attn_gpu.mma_wait %product pending(0) : !attn_gpu.inflight<64x16xf32>
      attn_gpu.release %v[%j] : !channel
      scf.yield %next : !fragment
    }
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }
}
