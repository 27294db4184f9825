// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-async-copies)))' -split-input-file -verify-diagnostics

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  gpu.func @another_memref(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    %copy = memref.alloca(%n) : !k
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        // expected-error @below {{expected a tile of a kernel argument whose columns run along its last dimension}}
        %keys = vector.transfer_read %copy[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  gpu.func @columns_across(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        // expected-error @below {{expected a tile of a kernel argument whose columns run along its last dimension}}
        %keys = vector.transfer_read %k[%row, %c0], %pad {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  gpu.func @columns_with_gaps(%k: memref<?x16xbf16, strided<[?, 2]>>, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        // expected-error @below {{expected columns without gaps, but got 'memref<?x16xbf16, strided<[?, 2]>>'}}
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : memref<?x16xbf16, strided<[?, 2]>>, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  gpu.func @under_a_condition(%k: !k, %q: !q, %n: index, %odd: i1) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        scf.if %odd {
          // expected-error @below {{expected to be in the loop over tiles or in a tile loop}}
          %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
          %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
        }
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  gpu.func @iterations_from_1(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    scf.for %tile = %c0 to %n step %c1 {
      // expected-error @below {{expected iterations from 0}}
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c1) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  gpu.func @rows_apart(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    %c16 = arith.constant 16 : index
    scf.for %tile = %c0 to %n step %c1 {
      %worker = attn_gpu.worker_id
      %offset = arith.muli %worker, %c1 : index
      %mine = arith.addi %tile, %offset : index
      // expected-error @below {{expected workers to read rows one after the other, but got an index that depends on the worker in another way}}
      %queries = vector.transfer_read %k[%mine, %c0], %pad {in_bounds = [false, true]} : !k, !q
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %queries, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  gpu.func @worker_squared(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    %c16 = arith.constant 16 : index
    scf.for %tile = %c0 to %n step %c1 {
      %worker = attn_gpu.worker_id
      %offset = arith.muli %worker, %worker : index
      %mine = arith.addi %tile, %offset : index
      // expected-error @below {{expected workers to read rows one after the other, but got an index that depends on the worker in another way}}
      %queries = vector.transfer_read %k[%mine, %c0], %pad {in_bounds = [false, true]} : !k, !q
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %queries, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  gpu.func @worker_twice(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    %c16 = arith.constant 16 : index
    scf.for %tile = %c0 to %n step %c1 {
      %worker = attn_gpu.worker_id
      %offset = arith.muli %worker, %c16 : index
      %mine = arith.addi %offset, %offset : index
      // expected-error @below {{expected workers to read rows one after the other, but got an index that depends on the worker in another way}}
      %queries = vector.transfer_read %k[%mine, %c0], %pad {in_bounds = [false, true]} : !k, !q
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %queries, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  gpu.func @worker_in_the_column(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    %c16 = arith.constant 16 : index
    scf.for %tile = %c0 to %n step %c1 {
      %worker = attn_gpu.worker_id
      // expected-error @below {{expected workers to read rows one after the other, but got an index that depends on the worker in another way}}
      %queries = vector.transfer_read %k[%tile, %worker], %pad : !k, !q
      attn.tile_loop (%j, %row) over keys step 8 first(%c0) from(%c0) segments(full %n) {
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : !k, !keys
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %queries, %keys, %zero : !q, !keys into !s
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  // expected-error @below {{expected one loop over tiles}}
  gpu.func @two_loops(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
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
    scf.for %tile = %c0 to %n step %c1 {
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8, workers = 2, query_stages = 1, stages = 2, registers = [24, 240], overlap = true, rescale_threshold = 8, persistent = false, descending = false>
!k = memref<?x16xbf16>
!q = vector<16x16xbf16>
!keys = vector<8x16xbf16>
!s = vector<16x8xf32>

gpu.module @kernels {
  // expected-error @below {{expected a loop over tiles that carries nothing}}
  gpu.func @no_loop(%k: !k, %q: !q, %n: index) kernel attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : !s
    gpu.return
  }
}
