// RUN: attn-opt %s -split-input-file -convert-attn-to-nvvm -verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{expected the attribute attn_gpu.warps_per_worker to be a power of 2}}
  gpu.func @no_warps() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expected the attribute known_block_size}}
  gpu.func @no_block() kernel attributes {attn_gpu.warps_per_worker = 4 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expected a one-dimensional block, but got 32x4x1}}
  gpu.func @flat_block() kernel attributes {known_block_size = array<i32: 32, 4, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @roles_and_threads() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // expected-error @below {{expected a block of 384 threads, but got 128}}
    attn_gpu.specialize producer(24) {
    } consumers(2, 240) {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @roles_of_warps() kernel attributes {known_block_size = array<i32: 384, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    // expected-error @below {{expected workers of 4 warps, but got 1}}
    attn_gpu.specialize producer(24) {
    } consumers(2, 240) {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @nested_roles(%c: i1) kernel attributes {known_block_size = array<i32: 384, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    scf.if %c {
      // expected-error @below {{expected to be at the top level of a kernel}}
      attn_gpu.specialize producer(24) {
      } consumers(2, 240) {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{failed to legalize operation 'gpu.func'}}
  gpu.func @parameter(%a: f64) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @uneven_rows(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // expected-error @below {{failed to legalize operation 'vector.broadcast'}}
    %v = vector.broadcast %x : f32 to vector<32x8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @huge_index() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    // expected-error @below {{failed to legalize operation 'arith.constant'}}
    %c = arith.constant 4294967296 : index
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @columns_not_contiguous(%o: memref<64x8xf32, strided<[1, 64]>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<64x8xf32>
    // expected-error @below {{failed to legalize operation 'vector.transfer_write'}}
    vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<64x8xf32>, memref<64x8xf32, strided<[1, 64]>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @mask_differs_within_a_row(%o: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %v = arith.constant dense<1.0> : vector<64x8xf32>
    %mask = arith.cmpf ogt, %v, %v : vector<64x8xf32>
    // expected-error @below {{failed to legalize operation 'vector.transfer_write'}}
    vector.transfer_write %v, %o[%c0, %c0], %mask {in_bounds = [true, true]} : vector<64x8xf32>, memref<64x8xf32>
    gpu.return
  }
}

// -----

#unrolled = #attn.schedule<style = fa2, target = "sm_80", rows = 64, keys = 16,
                           workers = 4, query_stages = 1, stages = 1, registers = [],
                           overlap = false, rescale_threshold = 0, persistent = false,
                           descending = false, unroll = true>
gpu.module @kernels {
  gpu.func @as_it_is() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64} {
    gpu.return
  }
  // expected-error @below {{expected unroll = false as in the other kernels of the module, but got true}}
  gpu.func @unrolled() kernel attributes {known_block_size = array<i32: 128, 1, 1>, attn_gpu.warps_per_worker = 1 : i64, attn.schedule = #unrolled} {
    gpu.return
  }
}
