// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-guard-hidden-values)))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#t = affine_map<(m, n, k) -> (n, k)>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @guard
  // CHECK: %[[R:[^ ]*]]:3 = scf.for
  // CHECK: %[[HURT:[^ ]*]] = arith.andi
  // CHECK: vector.transfer_write %[[R]]#2
  // CHECK: %[[ANY:[^ ]*]] = attn_gpu.warp_any %[[HURT]]
  // CHECK-NEXT: scf.if %[[ANY]] {
  // CHECK: attn_gpu.warp_any
  // CHECK: vector.transfer_write
  gpu.func @guard(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : bf16
    %none = arith.constant dense<0xFF800000> : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %no_scores = arith.constant dense<0.0> : vector<16x8xf32>
    %no_values = arith.constant dense<0.0> : vector<16x16xf32>
    %first_key = arith.constant dense<0> : vector<16xindex>
    %own = vector.step : vector<16xindex>
    %queries = vector.transfer_read %q[%c0, %c0], %pad : memref<?x16xbf16>, vector<16x16xbf16>
    %r:3 = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none, %l = %zero, %acc = %no_values) -> (vector<16xf32>, vector<16xf32>, vector<16x16xf32>) {
      %key = arith.muli %j, %c8 : index
      %keys = vector.transfer_read %k[%key, %c0], %pad : memref<?x16xbf16>, vector<8x16xbf16>
      %scores = vector.contract {indexing_maps = [#a, #t, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %queries, %keys, %no_scores : vector<16x16xbf16>, vector<8x16xbf16> into vector<16x8xf32>
      %base = vector.broadcast %key : index to vector<16xindex>
      %lower = arith.subi %first_key, %base : vector<16xindex>
      %upper = arith.subi %own, %base : vector<16xindex>
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %max = vector.multi_reduction <maxnumf>, %masked, %m [1] : vector<16x8xf32> to vector<16xf32>
      %factors = vector.broadcast %f : f32 to vector<16x8xf32>
      %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
      %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
      %differences = arith.subf %masked, %references : vector<16x8xf32>
      %power = arith.mulf %differences, %factors : vector<16x8xf32>
      %weights = math.exp2 %power : vector<16x8xf32>
      %sum = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
      %rounded = arith.truncf %weights : vector<16x8xf32> to vector<16x8xbf16>
      %values = vector.transfer_read %v[%key, %c0], %pad : memref<?x16xbf16>, vector<8x16xbf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %rounded, %values, %acc : vector<16x8xbf16>, vector<8x16xbf16> into vector<16x16xf32>
      scf.yield %max, %sum, %next : vector<16xf32>, vector<16xf32>, vector<16x16xf32>
    }
    vector.transfer_write %r#2, %o[%c0, %c0] : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}
