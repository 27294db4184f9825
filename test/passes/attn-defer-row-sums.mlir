// RUN: attn-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-defer-row-sums)))' | FileCheck %s

gpu.module @online {
  // The sum goes on behind its rescaling; other sums are none of the pass.
  // CHECK-LABEL: gpu.func @rescaled
  // CHECK: %[[R:.*]]:2 = attn.tile_loop {{.*}} carries(partial_sum %[[L:[^ ]*]] = {{.*}}, accumulator
  // CHECK: %[[SCALED:.*]]:2 = attn.rescale %[[L]]
  // CHECK: %[[PART:.*]] = attn_gpu.partial_sum %{{.*}} : vector<16x8xf32> -> vector<16xf32>
  // CHECK: arith.addf %[[SCALED]]#0, %[[PART]]
  // CHECK: %[[SUM:.*]] = attn_gpu.row_sum %[[R]]#0
  // CHECK: vector.multi_reduction <add>, %{{.*}}, %[[SUM]]
  gpu.func @rescaled(%p: vector<16x8xf32>, %m: vector<16xf32>, %c: f32, %acc0: vector<16x8xf32>, %n: index, %o: memref<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %r:2 = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0) segments(full %n)
        carries(sum %l = %zero : vector<16xf32>, accumulator %acc = %acc0 : vector<16x8xf32>) {
      %s:2 = attn.rescale %l, %acc from(%m) to(%m) factor(%c) : vector<16xf32>, vector<16x8xf32> by vector<16xf32>
      %part = vector.multi_reduction <add>, %p, %zero [1] : vector<16x8xf32> to vector<16xf32>
      %next = arith.addf %s#0, %part : vector<16xf32>
      attn.yield %next, %s#1 : vector<16xf32>, vector<16x8xf32>
    }
    %other = vector.multi_reduction <add>, %p, %r#0 [1] : vector<16x8xf32> to vector<16xf32>
    vector.transfer_write %other, %o[%c0] : vector<16xf32>, memref<16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_first_value
  // CHECK-NOT: attn_gpu
  gpu.func @negative_first_value(%p: vector<16x8xf32>, %l0: vector<16xf32>, %n: index, %o: memref<16xf32>) kernel {
    // expected-remark @below {{row sums are not deferred: expected a sum from 0 on}}
    %r = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n)
        carries(sum %l = %l0 : vector<16xf32>) {
      %sum = vector.multi_reduction <add>, %p, %l [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %sum : vector<16xf32>
    }
    vector.transfer_write %r, %o[%n] : vector<16xf32>, memref<16xf32>
    gpu.return
  }
}

// -----

gpu.module @kinds {
  // Neither the largest element nor a sum of something else than rows is one.
  gpu.func @negative_not_a_sum(%p: vector<16x8xf32>, %l0: vector<16xf64>, %n: index) kernel {
    %zero = arith.constant dense<0.0> : vector<16xf32>
    // expected-remark @below {{row sums are not deferred: expected sums of rows, added up and rescaled}}
    %a = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n) carries(sum %l = %zero : vector<16xf32>) {
      %max = vector.multi_reduction <maxnumf>, %p, %l [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %max : vector<16xf32>
    }
    // expected-remark @below {{row sums are not deferred: expected sums of rows, added up and rescaled}}
    %b = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n) carries(sum %l = %zero : vector<16xf32>) {
      %next = arith.addf %l, %l : vector<16xf32>
      attn.yield %next : vector<16xf32>
    }
    // expected-remark @below {{row sums are not deferred: expected a sum in f32}}
    %c = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n) carries(sum %l = %l0 : vector<16xf64>) {
      attn.yield %l : vector<16xf64>
    }
    gpu.return
  }
}

// -----

gpu.module @uses {
  // A sum that is used whole where it is still being carried gains nothing.
  gpu.func @negative_used_in_the_loop(%p: vector<16x8xf32>, %n: index, %o: memref<16xf32>) kernel {
    %zero = arith.constant dense<0.0> : vector<16xf32>
    // expected-remark @below {{row sums are not deferred: expected a sum that is used only behind the loop}}
    %r = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n) carries(sum %l = %zero : vector<16xf32>) {
      %sum = vector.multi_reduction <add>, %p, %l [1] : vector<16x8xf32> to vector<16xf32>
      vector.transfer_write %sum, %o[%n] : vector<16xf32>, memref<16xf32>
      attn.yield %sum : vector<16xf32>
    }
    // Nor as the reference of a rescaling.
    // expected-remark @below {{row sums are not deferred: expected a sum that is used only behind the loop}}
    %s:2 = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n) carries(sum %l = %zero : vector<16xf32>, maximum %m = %zero : vector<16xf32>) {
      %c = arith.constant 1.0 : f32
      %scaled = attn.rescale %m from(%l) to(%m) factor(%c) : vector<16xf32> by vector<16xf32>
      %sum = vector.multi_reduction <add>, %p, %l [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %sum, %scaled : vector<16xf32>, vector<16xf32>
    }
    gpu.return
  }
}
