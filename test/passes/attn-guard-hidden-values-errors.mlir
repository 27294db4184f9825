// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-guard-hidden-values)))' -split-input-file -verify-diagnostics

gpu.module @where_masks_stand {
  gpu.func @no_loop(%s: vector<16x8xf32>, %bounds: vector<16xindex>, %key: index) kernel {
    // expected-error @below {{expected a mask in an attn.tile_loop, so that hidden values can be kept out}}
    %masked = attn.mask_band %s at(%key) [%bounds, %bounds] : vector<16x8xf32>, vector<16xindex>
    gpu.return
  }
}

// -----

gpu.module @what_is_summed_up {
  gpu.func @no_product(%s: vector<16x8xf32>, %bounds: vector<16xindex>, %n: index, %o: memref<16x8xf32>) kernel {
    // expected-error @below {{expected accumulators of a product with a tile of values, so that hidden values can be kept out}}
    %r = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(partial %n) carries(accumulator %acc = %s : vector<16x8xf32>) {
      %masked = attn.mask_band %s at(%key) [%bounds, %bounds] : vector<16x8xf32>, vector<16xindex>
      %next = arith.addf %acc, %masked : vector<16x8xf32>
      attn.yield %next : vector<16x8xf32>
    }
    vector.transfer_write %r, %o[%n, %n] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

gpu.module @what_becomes_of_it {
  gpu.func @columns_differ(%s: vector<16x8xbf16>, %bounds: vector<16xindex>, %v: memref<?x8xbf16>, %n: index, %o: memref<16x8xf32>, %bias: vector<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : bf16
    %l0 = arith.constant dense<0.0> : vector<16xf32>
    // expected-error @below {{expected accumulators that are scaled by row and written, so that hidden values can be kept out}}
    %r:2 = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(partial %n) carries(sum %l = %l0 : vector<16xf32>, accumulator %acc = %bias : vector<16x8xf32>) {
      %masked = attn.mask_band %s at(%key) [%bounds, %bounds] : vector<16x8xbf16>, vector<16xindex>
      %values = vector.transfer_read %v[%key, %c0], %pad : memref<?x8xbf16>, vector<8x8xbf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %masked, %values, %acc : vector<16x8xbf16>, vector<8x8xbf16> into vector<16x8xf32>
      attn.yield %l, %next : vector<16xf32>, vector<16x8xf32>
    }
    %biased = arith.addf %r#1, %bias : vector<16x8xf32>
    vector.transfer_write %biased, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

gpu.module @what_weights_follow_from {
  // Which iteration it was is not known behind the loop.
  gpu.func @iteration(%bounds: vector<16xindex>, %v: memref<?x8xbf16>, %n: index, %o: memref<16x8xf32>, %acc0: vector<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : bf16
    %l0 = arith.constant dense<0.0> : vector<16xf32>
    // expected-error @below {{expected weights that follow from a tile's keys alone, so that hidden values can be kept out}}
    %r:2 = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(partial %n) carries(sum %l = %l0 : vector<16xf32>, accumulator %acc = %acc0 : vector<16x8xf32>) {
      %number = arith.index_cast %i : index to i16
      %float = arith.bitcast %number : i16 to bf16
      %s = vector.broadcast %float : bf16 to vector<16x8xbf16>
      %masked = attn.mask_band %s at(%key) [%bounds, %bounds] : vector<16x8xbf16>, vector<16xindex>
      %values = vector.transfer_read %v[%key, %c0], %pad : memref<?x8xbf16>, vector<8x8xbf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %masked, %values, %acc : vector<16x8xbf16>, vector<8x8xbf16> into vector<16x8xf32>
      attn.yield %l, %next : vector<16xf32>, vector<16x8xf32>
    }
    vector.transfer_write %r#1, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

gpu.module @what_ops_are_known {
  gpu.func @unknown_op(%bounds: vector<16xindex>, %v: memref<?x8xbf16>, %n: index, %o: memref<16x8xf32>, %acc0: vector<16x8xf32>, %s: vector<8x16xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : bf16
    %l0 = arith.constant dense<0.0> : vector<16xf32>
    %r:2 = attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(partial %n) carries(accumulator %acc = %acc0 : vector<16x8xf32>, sum %l = %l0 : vector<16xf32>) {
      // expected-error @below {{expected weights that follow from a tile's keys alone}}
      %turned = vector.transpose %s, [1, 0] : vector<8x16xbf16> to vector<16x8xbf16>
      %t = attn.mask_band %turned at(%key) [%bounds, %bounds] : vector<16x8xbf16>, vector<16xindex>
      %values = vector.transfer_read %v[%key, %c0], %pad : memref<?x8xbf16>, vector<8x8xbf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %t, %values, %acc : vector<16x8xbf16>, vector<8x8xbf16> into vector<16x8xf32>
      attn.yield %next, %l : vector<16x8xf32>, vector<16xf32>
    }
    vector.transfer_write %r#0, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}
