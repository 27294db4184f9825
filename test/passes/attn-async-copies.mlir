// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-async-copies)))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
#no_roles = #attn.schedule<style = fa2, target = "sm_80", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [], overlap = false, rescale_threshold = 8, persistent = false, descending = false>
#host = #attn.schedule<style = host, target = "host", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [], overlap = false, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  // Numbers of slots go on from tile to tile.
  // CHECK-LABEL: gpu.func @slots_are_running_counts
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{[^ ,]*}}, %[[KEYS:[^ ]*]] = %{{[^ ,]*}})
  // CHECK: attn.tile_loop (%[[ITERATION:[^ ]*]], %{{.*}}) {{.*}} segments(full %[[N:[^ ]*]])
  // CHECK: %[[SLOT:[^ ]*]] = arith.addi %[[KEYS]], %[[ITERATION]]
  // CHECK: attn_gpu.receive %{{.*}}[%[[SLOT]]]
  // CHECK: %[[NEXT:[^ ]*]] = arith.addi %[[KEYS]], %[[N]]
  // CHECK: scf.yield %{{.*}}, %[[NEXT]]
  gpu.func @slots_are_running_counts(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }

  // What differs from worker to worker in its row is copied once for the block.
  // CHECK-LABEL: gpu.func @rows_of_workers
  // CHECK: attn_gpu.tma_load %{{.*}}[%[[ROW:[^,]*]], %{{.*}}] to %[[Q:[^ ]*]][%{{.*}}] : <32x64xbf16
  // CHECK: %[[ALL:[^ ]*]] = attn_gpu.receive %[[Q]]
  // CHECK: %[[WORKER:[^ ]*]] = attn_gpu.worker_id
  // CHECK: %[[FIRST:[^ ]*]] = arith.muli %[[WORKER]]
  // CHECK: attn_gpu.subtile %[[ALL]][%[[FIRST]]] : {{.*}} to <16x16xbf16
  gpu.func @rows_of_workers(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    %c16 = arith.constant 16 : index
    scf.for %tile = %c0 to %n step %c1 {
      %worker = attn_gpu.worker_id
      %offset = arith.muli %worker, %c16 : index
      %mine = arith.addi %tile, %offset : index
      %queries = vector.transfer_read %k[%mine, %c0], %pad {in_bounds = [false, true]} : !k, !q
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %queries, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }

  // The order of a sum and of a product does not matter.
  // CHECK-LABEL: gpu.func @terms_in_another_order
  // CHECK: attn_gpu.tma_load %{{.*}}[%[[ROW:[^,]*]], %{{.*}}] to %[[Q:[^ ]*]][%{{.*}}] : <32x64xbf16
  // CHECK: %[[ALL:[^ ]*]] = attn_gpu.receive %[[Q]]
  // CHECK: %[[WORKER:[^ ]*]] = attn_gpu.worker_id
  // CHECK: %[[FIRST:[^ ]*]] = arith.muli %[[WORKER]]
  // CHECK: attn_gpu.subtile %[[ALL]][%[[FIRST]]] : {{.*}} to <16x16xbf16
  gpu.func @terms_in_another_order(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    %c16 = arith.constant 16 : index
    scf.for %tile = %c0 to %n step %c1 {
      %worker = attn_gpu.worker_id
      %offset = arith.muli %c16, %worker : index
      %mine = arith.addi %offset, %tile : index
      %queries = vector.transfer_read %k[%mine, %c0], %pad {in_bounds = [false, true]} : !k, !q
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %queries, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }

  // Two reads of a tensor are two channels.
  // CHECK-LABEL: gpu.func @reads_of_one_tensor
  // CHECK-COUNT-2: attn_gpu.channel consumers
  // CHECK-NOT: attn_gpu.channel consumers
  gpu.func @reads_of_one_tensor(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
        %values = vector.transfer_read %k[%j, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %t = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %values, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_no_matmul_operand
  // CHECK-NOT: attn_gpu.channel consumers
  // CHECK: vector.transfer_read
  gpu.func @negative_no_matmul_operand(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %x = vector.extract %keys[0, 0] : bf16 from !keys
      }
    }
    gpu.return
  }

  // Without a copy engine the threads copy, and need no map.
  // CHECK-LABEL: gpu.func @threads_copy
  // CHECK-NOT: attn_gpu.tensor_map
  // CHECK: %[[RING:[^ ]*]] = attn_gpu.channel consumers(2) : <8x16xbf16, stages = 2,
  // CHECK: attn_gpu.cooperative_load %{{.*}}[%[[ROW:[^,]*]], %{{.*}}] rows(0) to %[[RING]][%[[SLOT:[^ ]*]]]
  // CHECK: attn_gpu.receive %[[RING]][%[[SLOT]]]
  gpu.func @threads_copy(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #no_roles} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_other_style
  // CHECK-NOT: attn_gpu.channel consumers
  // CHECK: vector.transfer_read
  gpu.func @negative_other_style(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #host} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}
