// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-async-copies)))' -split-input-file -verify-diagnostics

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>

gpu.module @kernels {
  gpu.func @another_memref(%k: memref<?x16xbf16>, %q: vector<16x16xbf16>, %n: index, %o: memref<?xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %copy = memref.alloca(%n) : memref<?x16xbf16>
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %row = arith.muli %j, %c8 : index
        // expected-error @below {{expected a tile of a kernel argument whose columns run along its last dimension}}
        %keys = vector.transfer_read %copy[%row, %c0], %pad {in_bounds = [false, true]} : memref<?x16xbf16>, vector<8x16xbf16>
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : vector<16x16xbf16>, vector<8x16xbf16> into vector<16x8xf32>
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>

gpu.module @kernels {
  gpu.func @columns_across(%k: memref<?x16xbf16>, %q: vector<16x16xbf16>, %n: index, %o: memref<?xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %row = arith.muli %j, %c8 : index
        // expected-error @below {{expected a tile of a kernel argument whose columns run along its last dimension}}
        %keys = vector.transfer_read %k[%row, %c0], %pad {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x16xbf16>, vector<8x16xbf16>
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : vector<16x16xbf16>, vector<8x16xbf16> into vector<16x8xf32>
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>

gpu.module @kernels {
  gpu.func @columns_with_gaps(%k: memref<?x16xbf16, strided<[?, 2]>>, %q: vector<16x16xbf16>, %n: index, %o: memref<?xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %row = arith.muli %j, %c8 : index
        // expected-error @below {{expected columns without gaps, but got 'memref<?x16xbf16, strided<[?, 2]>>'}}
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : memref<?x16xbf16, strided<[?, 2]>>, vector<8x16xbf16>
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : vector<16x16xbf16>, vector<8x16xbf16> into vector<16x8xf32>
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>

gpu.module @kernels {
  gpu.func @under_a_condition(%k: memref<?x16xbf16>, %q: vector<16x16xbf16>, %n: index, %o: memref<?xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %row = arith.muli %j, %c8 : index
        %odd = arith.cmpi eq, %j, %c1 : index
        scf.if %odd {
          // expected-error @below {{expected to be in the loop over tiles or a loop over keys}}
          %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : memref<?x16xbf16>, vector<8x16xbf16>
          %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : vector<16x16xbf16>, vector<8x16xbf16> into vector<16x8xf32>
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
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>

gpu.module @kernels {
  gpu.func @key_loops_apart(%k: memref<?x16xbf16>, %q: vector<16x16xbf16>, %n: index, %o: memref<?xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    scf.for %tile = %c0 to %n step %c1 {
      // expected-error @below {{expected key loops to follow each other from 0 in steps of 1}}
      scf.for %j = %c1 to %n step %c1 {
        %row = arith.muli %j, %c8 : index
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : memref<?x16xbf16>, vector<8x16xbf16>
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : vector<16x16xbf16>, vector<8x16xbf16> into vector<16x8xf32>
      }
    }
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>

gpu.module @kernels {
  // expected-error @below {{expected one loop over tiles}}
  gpu.func @two_tile_loops(%k: memref<?x16xbf16>, %q: vector<16x16xbf16>, %n: index, %o: memref<?xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %row = arith.muli %j, %c8 : index
        %keys = vector.transfer_read %k[%row, %c0], %pad {in_bounds = [false, true]} : memref<?x16xbf16>, vector<8x16xbf16>
        %s = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %q, %keys, %zero : vector<16x16xbf16>, vector<8x16xbf16> into vector<16x8xf32>
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
#schedule = #attn.schedule<style = fa3, target = "sm_90a", rows = 32, keys = 8,
                           workers = 2, query_stages = 1, stages = 2,
                           registers = [24, 240], overlap = true,
                           rescale_threshold = 8, persistent = false,
                           descending = false>

gpu.module @kernels {
  // expected-error @below {{expected a loop over tiles that carries nothing}}
  gpu.func @no_tile_loop(%k: memref<?x16xbf16>, %q: vector<16x16xbf16>, %n: index, %o: memref<?xf32>) kernel
      attributes {attn.schedule = #schedule} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    gpu.return
  }
}
