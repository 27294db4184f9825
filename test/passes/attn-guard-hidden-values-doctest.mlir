// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-guard-hidden-values)))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
!kv = memref<?x16xbf16>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @guard
  // CHECK: %[[R:[^ ]*]]:2 = attn.tile_loop
  // CHECK: %[[BAD:[^ ]*]] = arith.andi
  // CHECK: vector.transfer_write %[[R]]#1
  // CHECK: %[[ANY:[^ ]*]] = attn_gpu.warp_any %[[BAD]]
  // CHECK-NEXT: scf.if %[[ANY]] {
  // CHECK: attn.softmax_weights %{{.*}} : vector<16x8xf32>
  // CHECK: vector.transfer_write
  gpu.func @guard(%lower: vector<16xindex>, %upper: vector<16xindex>, %m: vector<16xf32>, %c: f32, %v: !kv, %n: index, %o: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : bf16
    %no_weights = arith.constant dense<0.0> : vector<16xf32>
    %no_values = arith.constant dense<0.0> : vector<16x16xf32>
    %r:2 = attn.tile_loop (%i, %key) over keys step 8 first(%c0) from(%c0) segments(partial %n)
        carries(sum %l = %no_weights : vector<16xf32>, accumulator %acc = %no_values : vector<16x16xf32>) {
      %scores = arith.constant dense<1.0> : vector<16x8xf32>
      %masked = attn.mask_band %scores at(%key) [%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %p = attn.softmax_weights %masked relative(%m) factor(%c) : vector<16x8xf32>, vector<16xf32>
      %sum = vector.multi_reduction <add>, %p, %l [1] : vector<16x8xf32> to vector<16xf32>
      %w = arith.truncf %p : vector<16x8xf32> to vector<16x8xbf16>
      %values = vector.transfer_read %v[%key, %c0], %pad : !kv, vector<8x16xbf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %w, %values, %acc : vector<16x8xbf16>, vector<8x16xbf16> into vector<16x16xf32>
      attn.yield %sum, %next : vector<16xf32>, vector<16x16xf32>
    }
    vector.transfer_write %r#1, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}
