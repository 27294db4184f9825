// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' | FileCheck %s
// RUN: sed 's/shared_loop_columns = 16/shared_loop_columns = 17/' %s | attn-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-overlap-softmax)))' | FileCheck %s --check-prefix=PEELED

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16,
                           workers = 1, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false, shared_loop_columns = 16>
!channel = !attn_gpu.channel<16x16xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>
!tile = !attn_gpu.tile<16x16xbf16, #attn_gpu.panels<rows = 16, swizzle = 128>>
!fragment = vector<64x16xf32>
!queries = !attn_gpu.channel<64x16xbf16, stages = 1, #attn_gpu.panels<rows = 64, swizzle = 128>>
!query = !attn_gpu.tile<64x16xbf16, #attn_gpu.panels<rows = 64, swizzle = 128>>

gpu.module @kernels {
  // Accumulators of 16 columns: the first visit shares the loop and skips the
  // values, which no visit before it left. Without a visit nothing is left.
  // CHECK-LABEL: gpu.func @first_visit
  // CHECK-SAME: %[[FROM:[^ ]*]]: index, %[[TO:[^ ]*]]: index
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<64x16xf32>
  // CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : vector<64x16xbf16>
  // CHECK-DAG: %[[QUERIES:.*]] = attn_gpu.channel {{.*}} <64x16xbf16
  // CHECK-DAG: %[[VISITED:.*]] = arith.cmpi sgt, %[[TO]], %[[FROM]]
  // CHECK: %[[R:[^ ]*]]:2 = scf.for %[[I:[^ ]*]] = %[[FROM]] to %[[TO]] {{.*}} iter_args(%[[ACC:[^ ]*]] = %[[ZERO]], %[[WEIGHTS:[^ ]*]] = %[[NONE]])
  // CHECK:   %[[SCORES:.*]] = attn_gpu.mma_async {{.*}} transpose_b
  // CHECK:   %[[LATER:.*]] = arith.cmpi sgt, %[[I]], %[[FROM]]
  // CHECK:   %[[BEFORE:.*]] = arith.subi %[[I]]
  // CHECK:   %[[STARTED:.*]] = scf.if %[[LATER]] -> (!attn_gpu.inflight<64x16xf32>) {
  // CHECK:     %[[V:.*]] = attn_gpu.receive %{{.*}}[%[[BEFORE]]]
  // CHECK:     attn_gpu.mma_async %[[WEIGHTS]], %[[V]] accumulator(%[[ACC]] :
  // CHECK:   } else {
  // CHECK:     attn_gpu.mma_skip %[[ACC]]
  // CHECK:   }
  // CHECK:   attn_gpu.mma_wait %[[SCORES]] pending(1)
  // CHECK:   attn_gpu.mma_wait %[[STARTED]] pending(0)
  // CHECK:   scf.if %[[LATER]] {
  // CHECK-NEXT: attn_gpu.release %{{.*}}[%[[BEFORE]]]
  // CHECK-NEXT: }
  // CHECK:   arith.truncf
  // CHECK: }
  // CHECK-NEXT: attn_gpu.release %[[QUERIES]]
  // CHECK: scf.if %[[VISITED]] -> (vector<64x16xf32>) {
  // CHECK:   attn_gpu.mma_async %[[R]]#1, %{{.*}} accumulator(%[[R]]#0 :
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[R]]#0
  // CHECK-NOT: attn_gpu.release %[[QUERIES]]
  // PEELED-LABEL: gpu.func @first_visit
  // PEELED-NOT: mma_skip
  // PEELED: gpu.return
  gpu.func @first_visit(%from: index, %to: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %qs = attn_gpu.channel consumers(1) : !queries
    %q = attn_gpu.receive %qs[%c0] : !queries
    %sum = scf.for %j = %from to %to step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : !query, !tile -> !attn_gpu.inflight<64x16xf32>
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
    attn_gpu.release %qs[%c0] : !queries
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // The first visit of a chain is that of its first loop: a later one has none
  // if the first has none.
  // CHECK-LABEL: gpu.func @chain
  // CHECK-SAME: %[[N:[^ ]*]]: index, %[[M:[^ ]*]]: index
  // CHECK: %[[C0:.*]] = arith.constant 0
  // CHECK: %[[A:[^ ]*]]:2 = scf.for %[[I:[^ ]*]] = %[[C0]] to %[[N]]
  // CHECK:   arith.cmpi sgt, %[[I]], %[[C0]]
  // CHECK: scf.for %[[J:[^ ]*]] = %[[N]] to %[[M]] {{.*}} iter_args(%{{.*}} = %[[A]]#0, %{{.*}} = %[[A]]#1)
  // CHECK:   arith.cmpi sgt, %[[J]], %[[C0]]
  gpu.func @chain(%n: index, %m: index, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %qs = attn_gpu.channel consumers(1) : !queries
    %q = attn_gpu.receive %qs[%c0] : !queries
    %partial = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : !query, !tile -> !attn_gpu.inflight<64x16xf32>
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
    %sum = scf.for %j = %n to %m step %c1 iter_args(%acc = %partial) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : !query, !tile -> !attn_gpu.inflight<64x16xf32>
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
    attn_gpu.release %qs[%c0] : !queries
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }

  // A loop that runs once at most is its first visit: it is peeled however wide
  // accumulators are, and nothing is left of the loop.
  // CHECK-LABEL: gpu.func @one_visit
  // CHECK-SAME: index, %[[M:[^ ]*]]: index
  // CHECK: %[[ONE:.*]] = arith.minsi
  // CHECK: arith.select %{{.*}}, %{{.*}}, %[[ONE]]
  // CHECK: scf.if
  // CHECK: attn_gpu.mma_async {{.*}} transpose_b
  // CHECK-NOT: scf.for
  // CHECK: %[[C1:.*]] = arith.constant 1
  // CHECK: scf.for %{{.*}} = %[[C1]] to %[[M]]
  // CHECK-NOT: mma_skip
  // CHECK-NOT: scf.for
  // CHECK: gpu.return
  gpu.func @one_visit(%n: index, %m: index, %absent: i1, %o: memref<64x16xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !fragment
    %k = attn_gpu.channel consumers(1) : !channel
    %v = attn_gpu.channel consumers(1) : !channel
    %qs = attn_gpu.channel consumers(1) : !queries
    %q = attn_gpu.receive %qs[%c0] : !queries
    %one = arith.minsi %n, %c1 : index
    %first = arith.select %absent, %c0, %one : index
    %partial = scf.for %j = %c0 to %first step %c1 iter_args(%acc = %zero) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : !query, !tile -> !attn_gpu.inflight<64x16xf32>
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
    %sum = scf.for %j = %first to %m step %c1 iter_args(%acc = %partial) -> (!fragment) {
      %keys = attn_gpu.receive %k[%j] : !channel
      %started = attn_gpu.mma_async %q, %keys transpose_b : !query, !tile -> !attn_gpu.inflight<64x16xf32>
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
    attn_gpu.release %qs[%c0] : !queries
    vector.transfer_write %sum, %o[%c0, %c0] : !fragment, memref<64x16xf32>
    gpu.return
  }
}
