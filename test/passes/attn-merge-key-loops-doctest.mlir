// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-merge-key-loops)))' | FileCheck %s

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 16, keys = 16,
                           workers = 1, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 0, persistent = false,
                           descending = false, shared_loop_columns = 8>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @one_loop
  // CHECK-SAME: (%[[A:[^ ]*]]: index, %[[B:[^ ]*]]: index, %[[C:[^ ]*]]: index, %[[SCORES:[^ ]*]]: vector<16x8xf32>
  // CHECK-DAG: %[[FROM:.*]] = arith.minsi %[[A]], %[[B]]
  // CHECK-DAG: %[[TO:.*]] = arith.maxsi %[[B]], %[[C]]
  // CHECK: %[[MAX:.*]] = scf.for %[[I:.*]] = %[[FROM]] to %[[TO]] {{.*}} iter_args(%[[CARRIED:.*]] =
  // CHECK-NEXT: %[[PARTIAL:.*]] = arith.cmpi slt, %[[I]], %[[B]]
  // CHECK-NEXT: %[[SEEN:.*]] = scf.if %[[PARTIAL]]
  // CHECK-NEXT: vector.broadcast %[[I]]
  // CHECK-NEXT: %[[MASKED:.*]] = attn.mask_band %[[SCORES]]
  // CHECK-NEXT: scf.yield %[[MASKED]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[SCORES]]
  // CHECK-NEXT: }
  // CHECK-NEXT: arith.maxnumf %[[SEEN]], %[[CARRIED]]
  // CHECK-NOT: scf.for
  // CHECK: vector.transfer_write %[[MAX]]
  gpu.func @one_loop(%a: index, %b: index, %c: index, %scores: vector<16x8xf32>, %max: vector<16x8xf32>, %o: memref<16x8xf32>) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lower = arith.constant dense<0> : vector<16xindex>
    %masked = scf.for %i = %a to %b step %c1 iter_args(%m = %max) -> (vector<16x8xf32>) {
      %upper = vector.broadcast %i : index to vector<16xindex>
      %seen = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = arith.maxnumf %seen, %m : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    %all = scf.for %i = %b to %c step %c1 iter_args(%m = %masked) -> (vector<16x8xf32>) {
      %next = arith.maxnumf %scores, %m : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %all, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}
