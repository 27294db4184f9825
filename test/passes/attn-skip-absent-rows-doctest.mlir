// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-skip-absent-rows)))' | FileCheck %s

!channel = !attn_gpu.channel<8x64xbf16, stages = 2, #attn_gpu.panels<rows = 8, swizzle = 128>>
!x = vector<16xf32>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @forward
  // CHECK-SAME: (%{{[^ ]*}}: index, %[[P:[^ ]*]]: index, %[[N:[^ ]*]]: index, %[[ROW:[^ ]*]]: index, %{{.*}}: vector<16xf32>, %[[O:[^ ]*]]: memref<?xf32>)
  // CHECK: %[[SIZE:.*]] = memref.dim %[[O]], %{{.*}}
  // CHECK: %[[ABSENT:.*]] = arith.cmpi sge, %[[ROW]], %[[SIZE]]
  // CHECK: %[[PARTIAL:.*]] = arith.select %[[ABSENT]], %[[ZERO:[^ ]*]], %[[P]]
  // CHECK: %[[PRESENT:.*]] = arith.select %[[ABSENT]], %[[ZERO]], %[[N]]
  // CHECK: attn.tile_loop (%[[I:[^,]*]], %{{.*}}) {{.*}} from(%[[PRESENT]]) segments(full %[[N]])
  // CHECK-NEXT: attn_gpu.receive %[[CHANNEL:.*]][%[[I]]]
  // CHECK-NEXT: attn_gpu.release %[[CHANNEL]][%[[I]]]
  // CHECK: attn.tile_loop {{.*}} from(%[[ZERO]]) segments(partial %[[PARTIAL]], full %[[PRESENT]])
  gpu.func @forward(%tiles: index, %p: index, %n: index, %row: index, %x: !x, %o: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = attn_gpu.channel consumers(1) : !channel
    attn_gpu.specialize producer(24) {
    } consumers(1, 240) {
      scf.for %t = %c0 to %tiles step %c1 {
        attn.tile_loop (%i, %key) over keys step 8 first(%n) descending from(%c0) segments(partial %p, full %n) {
          %tile = attn_gpu.receive %k[%i] : !channel
          attn_gpu.release %k[%i] : !channel
        }
        vector.transfer_write %x, %o[%row] : !x, memref<?xf32>
      }
    }
    gpu.return
  }
}
