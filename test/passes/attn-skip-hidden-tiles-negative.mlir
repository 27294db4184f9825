// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-skip-hidden-tiles)))' -verify-diagnostics | FileCheck %s

!channel = !attn_gpu.channel<8x64xbf16, stages = 2, #attn_gpu.panels<rows = 8, swizzle = 128>>
!s = vector<16x8xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @negative_all_rows_see_the_same
  // CHECK-COUNT-1: attn.tile_loop
  // CHECK-NOT: attn.tile_loop
  gpu.func @negative_all_rows_see_the_same(%last: index, %p: index, %n: index, %first: index, %scores: !s, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      %lower, %upper = attn.band rows(%first) of(%c0, %c0) lengths(%n, %n) : vector<16xindex>
      attn.tile_loop (%i, %key) over keys step 8 first(%last) descending from(%c0) segments(partial %p, full %n) {
        %tile = attn_gpu.receive %k[%i] : !channel
        %masked = attn.mask_band %scores at(%key) [%lower, %upper] : !s, vector<16xindex>
        vector.transfer_write %masked, %o[%c0, %c0] : !s, memref<16x8xf32>
        attn_gpu.release %k[%i] : !channel
      }
    }
    gpu.return
  }

  // The first tiles taken are those that the first row sees.
  // CHECK-LABEL: gpu.func @negative_ascending
  // CHECK-COUNT-1: attn.tile_loop
  // CHECK-NOT: attn.tile_loop
  gpu.func @negative_ascending(%last: index, %p: index, %n: index, %first: index, %scores: !s, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      %lower, %upper = attn.band rows(%first) of(%c0, %c0) lengths(%n, %n) mask(#attn.causal<top_left>) : vector<16xindex>
      attn.tile_loop (%i, %key) over keys step 8 first(%last) from(%c0) segments(partial %p, full %n) {
        %tile = attn_gpu.receive %k[%i] : !channel
        %masked = attn.mask_band %scores at(%key) [%lower, %upper] : !s, vector<16xindex>
        vector.transfer_write %masked, %o[%c0, %c0] : !s, memref<16x8xf32>
        attn_gpu.release %k[%i] : !channel
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_slot_carried_by_the_loop
  // CHECK-COUNT-1: attn.tile_loop
  // CHECK-NOT: attn.tile_loop
  gpu.func @negative_slot_carried_by_the_loop(%last: index, %p: index, %n: index, %first: index, %scores: !s, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      %lower, %upper = attn.band rows(%first) of(%c0, %c0) lengths(%n, %n) mask(#attn.causal<top_left>) : vector<16xindex>
      // expected-remark @below {{hidden tiles are computed: expected slots that follow from the iteration}}
      %f = attn.tile_loop (%i, %key) over keys step 8 first(%last) descending from(%c0) segments(partial %p, full %n) carries(sum %r = %c0 : index) {
        %tile = attn_gpu.receive %k[%r] : !channel
        %masked = attn.mask_band %scores at(%key) [%lower, %upper] : !s, vector<16xindex>
        vector.transfer_write %masked, %o[%c0, %c0] : !s, memref<16x8xf32>
        attn_gpu.release %k[%r] : !channel
        %next = arith.addi %r, %i : index
        attn.yield %next : index
      }
    }
    gpu.return
  }
}
