// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-specialize-warpgroups)))' | FileCheck %s

#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 64, keys = 16, workers = 1, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!map = !attn_gpu.tensor_map<16x64xbf16, swizzle = 128>
!channel = !attn_gpu.channel<16x64xbf16, stages = 2, #attn_gpu.panels<rows = 16, swizzle = 128>>


gpu.module @kernels {
  // Running counts are carried by the producer too, data is not.
  // CHECK-LABEL: gpu.func @counts_in_both_roles
  // CHECK: producer
  // CHECK: scf.for {{.*}} iter_args(%[[COUNT:[^ ]*]] = %{{[^,]*}}) -> (index)
  // CHECK: attn_gpu.tma_load {{.*}}[%[[COUNT]]]
  // CHECK: scf.yield %{{[^,]*}} : index
  // CHECK: consumers
  // CHECK: scf.for {{.*}} -> (index, vector<16xf32>)
  gpu.func @counts_in_both_roles(%map: !map, %n: index) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %channel = attn_gpu.channel consumers(1) : !channel
    %zero = arith.constant dense<0.0> : vector<16xf32>
    scf.for %tile = %c0 to %n step %c1 iter_args(%count = %c0, %sum = %zero) -> (index, vector<16xf32>) {
      attn_gpu.tma_load %map[%tile, %c0] to %channel[%count] : !map to !channel
      %t = attn_gpu.receive %channel[%count] : !channel
      attn_gpu.release %channel[%count] : !channel
      %next = arith.addi %count, %c1 : index
      %more = arith.addf %sum, %sum : vector<16xf32>
      scf.yield %next, %more : index, vector<16xf32>
    }
    gpu.return
  }

  // All tiles are the same to the producer: one segment, to the same end.
  // CHECK-LABEL: gpu.func @tile_loop
  // CHECK: producer
  // CHECK: %[[END:[^ ]*]] = arith.muli
  // CHECK: attn.tile_loop (%{{.*}}, %[[KEY:[^ ]*]]) {{.*}} segments(full %[[END]]) {
  // CHECK-NEXT: attn_gpu.tma_load %{{.*}}[%[[KEY]],
  // CHECK: consumers
  // CHECK: %[[END2:[^ ]*]] = arith.muli
  // CHECK: attn.tile_loop {{.*}} segments(partial %{{.*}}, full %[[END2]]) {
  gpu.func @tile_loop(%map: !map, %n: index) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %channel = attn_gpu.channel consumers(1) : !channel
    scf.for %tile = %c0 to %n step %c1 {
      %end = arith.muli %tile, %tile : index
      attn.tile_loop (%i, %key) over keys step 16 first(%n) descending from(%c0) segments(partial %n, full %end) {
      attn_gpu.tma_load %map[%key, %c0] to %channel[%tile] : !map to !channel
      %t = attn_gpu.receive %channel[%tile] : !channel
      attn_gpu.release %channel[%tile] : !channel
      }
    }
    gpu.return
  }

  // What copies do not need is not in the producer.
  // CHECK-LABEL: gpu.func @work_of_the_consumer
  // CHECK: producer
  // CHECK-NOT: attn_gpu.worker_id
  // CHECK-NOT: memref.store
  // CHECK: consumers
  // CHECK: attn_gpu.worker_id
  // CHECK: memref.store
  gpu.func @work_of_the_consumer(%map: !map, %n: index, %o: memref<?xindex>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %channel = attn_gpu.channel consumers(1) : !channel
    scf.for %tile = %c0 to %n step %c1 {
      attn_gpu.tma_load %map[%tile, %c0] to %channel[%tile] : !map to !channel
      %t = attn_gpu.receive %channel[%tile] : !channel
      %worker = attn_gpu.worker_id
      memref.store %worker, %o[%worker] : memref<?xindex>
      attn_gpu.release %channel[%tile] : !channel
    }
    gpu.return
  }
}
