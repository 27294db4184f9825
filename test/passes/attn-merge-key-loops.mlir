// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-merge-key-loops)))' | FileCheck %s
// RUN: sed 's/shared_loop_columns = 8/shared_loop_columns = 9/' %s | attn-opt --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-merge-key-loops)))' | FileCheck %s --check-prefix=NARROW

// NARROW-COUNT-2: scf.for
// NARROW-LABEL: gpu.func @negative_other_operand

#schedule = #attn.schedule<style = fa2, target = "sm_80", rows = 16, keys = 16,
                           workers = 1, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 0, persistent = false,
                           descending = false, shared_loop_columns = 8>

gpu.module @kernels {
  // Ops that others need too stay in front of the condition, regions are
  // compared, and what is made between the loops stays in front of both.
  // CHECK-LABEL: gpu.func @shared_ops
  // CHECK: %[[C:.*]] = arith.addi
  // CHECK: arith.maxsi %{{.*}}, %[[C]]
  // CHECK: scf.for %[[I:[^ ]*]] =
  // CHECK-NEXT: %[[KEY:.*]] = arith.muli %[[I]]
  // CHECK-NEXT: %[[HALF:.*]] = arith.mulf
  // CHECK-NEXT: arith.cmpi slt, %[[I]]
  // CHECK-NEXT: %[[SEEN:.*]] = scf.if
  // CHECK-NEXT: vector.broadcast %[[KEY]]
  // CHECK-NEXT: attn.mask_band %[[HALF]]
  // CHECK: scf.yield %[[HALF]]
  // CHECK: arith.addf %{{.*}}, %[[SEEN]]
  // CHECK: scf.if
  // CHECK-NOT: scf.for
  gpu.func @shared_ops(%a: index, %b: index, %n: index, %scores: vector<16x8xf32>, %o: memref<16x8xf32>) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %lower = arith.constant dense<0> : vector<16xindex>
    %masked = scf.for %i = %a to %b step %c1 iter_args(%sum = %zero) -> (vector<16x8xf32>) {
      %key = arith.muli %i, %c8 : index
      %half = arith.mulf %scores, %scores : vector<16x8xf32>
      %upper = vector.broadcast %key : index to vector<16xindex>
      %seen = attn.mask_band %half[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = arith.addf %sum, %seen : vector<16x8xf32>
      %is = arith.cmpi slt, %key, %c8 : index
      %r = scf.if %is -> (vector<16x8xf32>) {
        %twice = arith.addf %next, %seen : vector<16x8xf32>
        scf.yield %twice : vector<16x8xf32>
      } else {
        scf.yield %next : vector<16x8xf32>
      }
      scf.yield %r : vector<16x8xf32>
    }
    %c = arith.addi %n, %b : index
    %all = scf.for %i = %b to %c step %c1 iter_args(%sum = %masked) -> (vector<16x8xf32>) {
      %key = arith.muli %i, %c8 : index
      %half = arith.mulf %scores, %scores : vector<16x8xf32>
      %next = arith.addf %sum, %half : vector<16x8xf32>
      %is = arith.cmpi slt, %key, %c8 : index
      %r = scf.if %is -> (vector<16x8xf32>) {
        %twice = arith.addf %next, %half : vector<16x8xf32>
        scf.yield %twice : vector<16x8xf32>
      } else {
        scf.yield %next : vector<16x8xf32>
      }
      scf.yield %r : vector<16x8xf32>
    }
    vector.transfer_write %all, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // The second loop subtracts the other way round.
  // CHECK-LABEL: gpu.func @negative_other_operand
  // CHECK-COUNT-2: scf.for
  gpu.func @negative_other_operand(%a: index, %b: index, %c: index, %scores: vector<16x8xf32>, %o: memref<16x8xf32>) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %lower = arith.constant dense<0> : vector<16xindex>
    %masked = scf.for %i = %a to %b step %c1 iter_args(%sum = %zero) -> (vector<16x8xf32>) {
      %upper = vector.broadcast %i : index to vector<16xindex>
      %seen = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = arith.subf %sum, %seen : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    %all = scf.for %i = %b to %c step %c1 iter_args(%sum = %masked) -> (vector<16x8xf32>) {
      %next = arith.subf %scores, %sum : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %all, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // What is masked is used unmasked too, where the second loop uses another.
  // CHECK-LABEL: gpu.func @negative_unmasked_use
  // CHECK-COUNT-2: scf.for
  gpu.func @negative_unmasked_use(%a: index, %b: index, %c: index, %scores: vector<16x8xf32>, %o: memref<16x8xf32>) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %lower = arith.constant dense<0> : vector<16xindex>
    %masked = scf.for %i = %a to %b step %c1 iter_args(%sum = %zero) -> (vector<16x8xf32>) {
      %upper = vector.broadcast %i : index to vector<16xindex>
      %half = arith.mulf %scores, %scores : vector<16x8xf32>
      %seen = attn.mask_band %half[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %both = arith.addf %seen, %half : vector<16x8xf32>
      %next = arith.addf %sum, %both : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    %all = scf.for %i = %b to %c step %c1 iter_args(%sum = %masked) -> (vector<16x8xf32>) {
      %half = arith.mulf %scores, %scores : vector<16x8xf32>
      %both = arith.addf %half, %scores : vector<16x8xf32>
      %next = arith.addf %sum, %both : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %all, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // The second loop has an op more, at its end.
  // CHECK-LABEL: gpu.func @negative_longer
  // CHECK-COUNT-2: scf.for
  gpu.func @negative_longer(%a: index, %b: index, %c: index, %scores: vector<16x8xf32>, %o: memref<16x8xf32>) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %lower = arith.constant dense<0> : vector<16xindex>
    %masked = scf.for %i = %a to %b step %c1 iter_args(%sum = %zero) -> (vector<16x8xf32>) {
      %upper = vector.broadcast %i : index to vector<16xindex>
      %seen = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = arith.addf %sum, %seen : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    %all = scf.for %i = %b to %c step %c1 iter_args(%sum = %masked) -> (vector<16x8xf32>) {
      %next = arith.addf %sum, %scores : vector<16x8xf32>
      vector.transfer_write %next, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %all, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // Somebody sees what the first loop alone computed.
  // CHECK-LABEL: gpu.func @negative_seen_between
  // CHECK-COUNT-2: scf.for
  gpu.func @negative_seen_between(%a: index, %b: index, %c: index, %scores: vector<16x8xf32>, %o: memref<16x8xf32>) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %lower = arith.constant dense<0> : vector<16xindex>
    %masked = scf.for %i = %a to %b step %c1 iter_args(%sum = %zero) -> (vector<16x8xf32>) {
      %upper = vector.broadcast %i : index to vector<16xindex>
      %seen = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = arith.addf %sum, %seen : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    %all = scf.for %i = %b to %c step %c1 iter_args(%sum = %masked) -> (vector<16x8xf32>) {
      %next = arith.addf %sum, %scores : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    %both = arith.addf %all, %masked : vector<16x8xf32>
    vector.transfer_write %both, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // A store between the loops, which the first may read.
  // CHECK-LABEL: gpu.func @negative_store_between
  // CHECK-COUNT-2: scf.for
  gpu.func @negative_store_between(%a: index, %b: index, %c: index, %scores: vector<16x8xf32>, %o: memref<16x8xf32>) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %lower = arith.constant dense<0> : vector<16xindex>
    %masked = scf.for %i = %a to %b step %c1 iter_args(%sum = %zero) -> (vector<16x8xf32>) {
      %upper = vector.broadcast %i : index to vector<16xindex>
      %seen = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = arith.addf %sum, %seen : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %scores, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    %all = scf.for %i = %b to %c step %c1 iter_args(%sum = %masked) -> (vector<16x8xf32>) {
      %next = arith.addf %sum, %scores : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %all, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // The first loop runs once at most: it is left to the overlap.
  // CHECK-LABEL: gpu.func @negative_one_trip
  // CHECK-COUNT-2: scf.for
  gpu.func @negative_one_trip(%a: index, %b: index, %c: index, %scores: vector<16x8xf32>, %o: memref<16x8xf32>) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %lower = arith.constant dense<0> : vector<16xindex>
    %one = arith.minsi %b, %c1 : index
    %masked = scf.for %i = %c0 to %one step %c1 iter_args(%sum = %zero) -> (vector<16x8xf32>) {
      %upper = vector.broadcast %i : index to vector<16xindex>
      %seen = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = arith.addf %sum, %seen : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    %all = scf.for %i = %one to %c step %c1 iter_args(%sum = %masked) -> (vector<16x8xf32>) {
      %next = arith.addf %sum, %scores : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %all, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // The second loop starts elsewhere.
  // CHECK-LABEL: gpu.func @negative_gap
  // CHECK-COUNT-2: scf.for
  gpu.func @negative_gap(%a: index, %b: index, %c: index, %scores: vector<16x8xf32>, %o: memref<16x8xf32>) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %lower = arith.constant dense<0> : vector<16xindex>
    %masked = scf.for %i = %a to %b step %c1 iter_args(%sum = %zero) -> (vector<16x8xf32>) {
      %upper = vector.broadcast %i : index to vector<16xindex>
      %seen = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = arith.addf %sum, %seen : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    %all = scf.for %i = %a to %c step %c1 iter_args(%sum = %masked) -> (vector<16x8xf32>) {
      %next = arith.addf %sum, %scores : vector<16x8xf32>
      scf.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %all, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}
