// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-skip-hidden-tiles)))' | FileCheck %s

!channel = !attn_gpu.channel<8x64xbf16, stages = 2, #attn_gpu.panels<rows = 8, swizzle = 128>>
!s = vector<16x8xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @forward
  // CHECK-SAME: (%[[LAST:[^ ]*]]: index, %[[P:[^ ]*]]: index, %[[N:[^ ]*]]: index, %[[FIRST:[^ ]*]]: index
  // CHECK: %[[ROW:.*]] = arith.constant 15 : index
  // CHECK: %[[LAST_ROW:.*]] = arith.addi %[[ROW]], %[[FIRST]]
  // CHECK: arith.addi %[[LAST_ROW]]
  // CHECK: %[[MOST:.*]] = arith.subi %[[P]]
  // CHECK: %[[BOUNDED:.*]] = arith.minsi %{{.*}}, %[[MOST]]
  // CHECK: %[[HIDDEN:.*]] = arith.maxsi %[[BOUNDED]]
  // CHECK: attn.tile_loop (%[[I:[^,]*]], %{{.*}}) {{.*}} segments(full %[[HIDDEN]])
  // CHECK-NEXT: attn_gpu.receive %[[CHANNEL:.*]][%[[I]]]
  // CHECK-NEXT: attn_gpu.release %[[CHANNEL]][%[[I]]]
  // CHECK: attn.tile_loop {{.*}} from(%[[HIDDEN]]) segments(partial %[[P]], full %[[N]])
  gpu.func @forward(%last: index, %p: index, %n: index, %first: index, %scores: !s, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      %lower, %upper = attn.band rows(%first) of(%c0, %c0) lengths(%n, %n) mask(#attn.causal<top_left>) : vector<16xindex>
      attn.tile_loop (%i, %key) over keys step 8 first(%last) descending from(%c0) segments(partial %p, full %n) {
        %tile = attn_gpu.receive %k[%i] : !channel
        %masked = attn.mask_band %scores at(%key) [%lower, %upper] : !s, vector<16xindex>
        vector.transfer_write %masked, %o[%c0, %c0] : !s, memref<16x8xf32>
        attn_gpu.release %k[%i] : !channel
      }
    }
    gpu.return
  }
}
