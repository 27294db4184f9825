// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-guard-hidden-values)))' | FileCheck %s

gpu.module @kernels {
  // Without a mask, what a band hides are keys that do not exist.
  // CHECK-LABEL: gpu.func @negative_no_mask
  // CHECK-NOT: attn_gpu.warp_any
  gpu.func @negative_no_mask(%s: vector<16x8xf32>, %acc0: vector<16x8xf32>, %n: index, %o: memref<16x8xf32>) kernel {
    %lower, %upper = attn.band rows(%n) of(%n, %n) lengths(%n, %n) : vector<16xindex>
    %r = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(tail %n) carries(accumulator %acc = %acc0 : vector<16x8xf32>) {
      %masked = attn.mask_band %s at(%key) [%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = arith.addf %acc, %masked : vector<16x8xf32>
      attn.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %r, %o[%n, %n] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }

  // A maximum is of scores, which values do not reach.
  // CHECK-LABEL: gpu.func @negative_no_accumulators
  // CHECK-NOT: attn_gpu.warp_any
  gpu.func @negative_no_accumulators(%s: vector<16x8xf32>, %bounds: vector<16xindex>, %m0: vector<16xf32>, %n: index) kernel {
    attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(partial %n) carries(maximum %m = %m0 : vector<16xf32>) {
      %masked = attn.mask_band %s at(%key) [%bounds, %bounds] : vector<16x8xf32>, vector<16xindex>
      %max = vector.multi_reduction <maxnumf>, %masked, %m [1] : vector<16x8xf32> to vector<16xf32>
      attn.yield %max : vector<16xf32>
    }
    gpu.return
  }
}
