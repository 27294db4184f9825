// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-skip-hidden-tiles)))' | FileCheck %s

!channel = !attn_gpu.channel<8x64xbf16, stages = 2, #attn_gpu.panels<rows = 8, swizzle = 128>>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @hand_on
  // CHECK-SAME: (%[[LAST:[^ ]*]]: index, %[[N:[^ ]*]]: index, %[[FIRST:[^ ]*]]: index
  // CHECK: %[[ROW:.*]] = arith.constant 15 : index
  // CHECK: %[[UPPER:.*]] = arith.addi %[[ROW]], %[[FIRST]]
  // CHECK: arith.minsi
  // CHECK-NEXT: %[[HIDDEN:.*]] = arith.maxsi
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[HIDDEN]]
  // CHECK-NEXT: attn_gpu.receive %[[CHANNEL:.*]][%[[I]]]
  // CHECK-NEXT: attn_gpu.release %[[CHANNEL]][%[[I]]]
  // CHECK: scf.for %{{.*}} = %[[HIDDEN]] to %[[N]]
  gpu.func @hand_on(%last: index, %n: index, %first: index, %scores: vector<16x8xf32>, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : f32
    %lower = arith.constant dense<0> : vector<16xindex>
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      %step = vector.step : vector<16xindex>
      %start = vector.broadcast %first : index to vector<16xindex>
      %upper = arith.addi %step, %start : vector<16xindex>
      scf.for %i = %c0 to %n step %c1 {
        %tile = attn_gpu.receive %k[%i] : !channel
        %j = arith.subi %last, %i : index
        %key = arith.muli %j, %c8 : index
        %base = vector.broadcast %key : index to vector<16xindex>
        %end = arith.subi %upper, %base : vector<16xindex>
        %masked = attn.mask_band %scores[%lower, %end] : vector<16x8xf32>, vector<16xindex>
        vector.transfer_write %masked, %o[%c0, %c0] : vector<16x8xf32>, memref<16x8xf32>
        attn_gpu.release %k[%i] : !channel
      }
    }
    gpu.return
  }
}
