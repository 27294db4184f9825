// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-guard-hidden-values)))' | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#t = affine_map<(m, n, k) -> (n, k)>

gpu.module @kernels {
  // A hurt row is summed again from the keys that it sees.
  // CHECK-LABEL: gpu.func @key_by_key
  // CHECK: attn_gpu.warp_barrier
  // CHECK: attn_gpu.warp_any
  // CHECK: attn_gpu.warp_any
  // CHECK: scf.for %[[KEY:[^ ]*]] =
  // CHECK: math.exp2
  // CHECK: vector.transfer_read %{{[^ ]*}}[%[[KEY]],
  // CHECK: arith.cmpi slt
  // CHECK: arith.select
  // CHECK: vector.transfer_write
  gpu.func @key_by_key(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
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

  // Only hurt rows are written again.
  // CHECK-LABEL: gpu.func @only_hurt_rows
  // CHECK: attn_gpu.warp_any %[[HURT:[^ ]*]] :
  // CHECK: %[[COLUMN:[^ ]*]] = vector.shape_cast %[[HURT]]
  // CHECK: %[[MASK:[^ ]*]] = vector.broadcast %[[COLUMN]]
  // CHECK: vector.transfer_write %{{[^ ]*}}, %{{[^ ]*}}[%{{[^]]*}}], %[[MASK]]
  gpu.func @only_hurt_rows(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
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

  // They are computed again only if a value of a masked tile is not finite.
  // CHECK-LABEL: gpu.func @where_the_cause_is
  // CHECK-SAME: ({{[^,]*}}, {{[^,]*}}, %[[V:[^ ]*]]: memref
  // CHECK: attn_gpu.warp_barrier
  // CHECK: scf.for
  // CHECK: %[[NONE:[^ ]*]] = arith.constant dense<0.0{{.*}}> : vector<16x16xf32>
  // CHECK: %[[SUM:[^ ]*]] = scf.for %[[KEY:[^ ]*]] = {{.*}} iter_args(%[[Z:[^ ]*]] = %[[NONE]])
  // CHECK-NEXT: vector.transfer_read %[[V]][%[[KEY]],
  // CHECK: math.fma %{{[^ ]*}}, %{{[^ ]*}}, %[[Z]]
  // CHECK: vector.multi_reduction <add>, %[[SUM]]
  // CHECK: %[[CAUSE:[^ ]*]] = attn_gpu.warp_any
  // CHECK-NEXT: scf.if %[[CAUSE]] {
  gpu.func @where_the_cause_is(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
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

  // Keys after which a hurt row is all NaN are left out, 64 at a time.
  // CHECK-LABEL: gpu.func @until_all_is_nan
  // CHECK: attn_gpu.warp_any %[[HURT:[^ ]*]] :
  // CHECK: scf.if %{{[^ ]*}} {
  // CHECK: scf.if %{{[^ ]*}} {
  // CHECK: %[[SUMS:[^ ]*]] = scf.for %[[FIRST:[^ ]*]] = {{.*}} iter_args(%[[SOFAR:[^ ]*]] =
  // CHECK: %[[NAN:[^ ]*]] = arith.constant dense<0x7FC00000>
  // CHECK: %[[MAX:[^ ]*]] = vector.multi_reduction <maxnumf>, %[[SOFAR]], %[[NAN]] [1]
  // CHECK: %[[NUMBER:[^ ]*]] = arith.cmpf ord, %[[MAX]], %[[MAX]]
  // CHECK: %[[BOTH:[^ ]*]] = arith.andi %[[NUMBER]], %[[HURT]]
  // CHECK: %[[OPEN:[^ ]*]] = attn_gpu.warp_any %[[BOTH]]
  // CHECK: scf.if %[[OPEN]]
  // CHECK: scf.for %{{[^ ]*}} = %[[FIRST]] to
  // CHECK: } else {
  // CHECK: scf.yield %[[SOFAR]]
  gpu.func @until_all_is_nan(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
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

  // The masked tiles reach from key 8 * 0 to key 8 * (n - 1) + 8.
  // CHECK-LABEL: gpu.func @range_of_keys
  // CHECK-SAME: %[[N:[^ ]*]]: index
  // CHECK: attn_gpu.warp_barrier
  // CHECK: scf.for
  // CHECK: %[[FIRST:[^ ]*]] = arith.muli %c0, %c8
  // CHECK: %[[LAST:[^ ]*]] = arith.subi %[[N]], %c1
  // CHECK: %[[OTHER:[^ ]*]] = arith.muli %[[LAST]], %c8
  // CHECK: arith.minsi %[[FIRST]], %[[OTHER]]
  // CHECK: %[[MAX:[^ ]*]] = arith.maxsi %[[FIRST]], %[[OTHER]]
  // CHECK: arith.addi %[[MAX]], %c8
  gpu.func @range_of_keys(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
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

  // A loop may visit the last tile first.
  // CHECK-LABEL: gpu.func @last_tile_first
  // CHECK-SAME: %[[N:[^ ]*]]: index
  // CHECK: attn_gpu.warp_barrier
  // CHECK: scf.for
  // CHECK: %[[FROM:[^ ]*]] = arith.subi %[[N]], %c0
  // CHECK: %[[FIRST:[^ ]*]] = arith.muli %[[FROM]], %c8
  // CHECK: %[[LAST:[^ ]*]] = arith.subi %[[N]], %c1
  // CHECK: %[[BACK:[^ ]*]] = arith.subi %[[N]], %[[LAST]]
  // CHECK: %[[OTHER:[^ ]*]] = arith.muli %[[BACK]], %c8
  // CHECK: arith.minsi %[[FIRST]], %[[OTHER]]
  gpu.func @last_tile_first(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
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
      %back = arith.subi %n, %j : index
      %key = arith.muli %back, %c8 : index
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

  // What is done to all accumulators is done to those of hurt rows.
  // CHECK-LABEL: gpu.func @scaled_output
  // CHECK: arith.truncf
  // CHECK: arith.truncf
  // CHECK: vector.transfer_write
  // CHECK: arith.mulf %{{.*}} : vector<16x16xf32>
  // CHECK: arith.truncf %{{.*}} : vector<16x16xf32> to vector<16x16xbf16>
  // CHECK: vector.transfer_write
  gpu.func @scaled_output(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xbf16>) kernel {
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
    %column = vector.shape_cast %r#1 : vector<16xf32> to vector<16x1xf32>
    %scales = vector.broadcast %column : vector<16x1xf32> to vector<16x16xf32>
    %scaled = arith.mulf %r#2, %scales : vector<16x16xf32>
    %half = arith.truncf %scaled : vector<16x16xf32> to vector<16x16xbf16>
    vector.transfer_write %half, %o[%c0, %c0] : vector<16x16xbf16>, memref<16x16xbf16>
    gpu.return
  }

  // One guard for a chain of loops, and it looks into the tiles of each masked
  // one: two ranges of keys, then the recomputation.
  // CHECK-LABEL: gpu.func @behind_the_last_loop
  // CHECK: scf.for
  // CHECK: %[[LAST:[^ ]*]]:3 = scf.for
  // CHECK: vector.transfer_write %[[LAST]]#2
  // CHECK: attn_gpu.warp_barrier
  // CHECK: scf.for
  // CHECK: %[[ONE:[^ ]*]] = scf.for
  // CHECK: %[[BOTH:[^ ]*]] = scf.for {{.*}} = %[[ONE]])
  // CHECK: vector.multi_reduction <add>, %[[BOTH]]
  // CHECK: attn_gpu.warp_any
  // CHECK-NOT: attn_gpu.warp_barrier
  gpu.func @behind_the_last_loop(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %z: index, %o: memref<16x16xf32>) kernel {
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
    %s:3 = scf.for %j = %n to %z step %c1 iter_args(%m = %r#0, %l = %r#1, %acc = %r#2) -> (vector<16xf32>, vector<16xf32>, vector<16x16xf32>) {
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
    vector.transfer_write %s#2, %o[%c0, %c0] : vector<16x16xf32>, memref<16x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @negative_all_rows_see_the_same
  // CHECK-NOT: attn_gpu.warp_any
  // CHECK: gpu.return
  gpu.func @negative_all_rows_see_the_same(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : bf16
    %none = arith.constant dense<0xFF800000> : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %no_scores = arith.constant dense<0.0> : vector<16x8xf32>
    %no_values = arith.constant dense<0.0> : vector<16x16xf32>
    %first_key = arith.constant dense<0> : vector<16xindex>
    %own = vector.broadcast %n : index to vector<16xindex>
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

  // CHECK-LABEL: gpu.func @negative_no_mask
  // CHECK-NOT: attn_gpu.warp_any
  // CHECK: gpu.return
  gpu.func @negative_no_mask(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
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
      %max = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
      %factors = vector.broadcast %f : f32 to vector<16x8xf32>
      %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
      %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
      %differences = arith.subf %scores, %references : vector<16x8xf32>
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

  // CHECK-LABEL: gpu.func @results_without_use
  // CHECK-NOT: attn_gpu.warp_any
  // CHECK: gpu.return
  gpu.func @results_without_use(%q: memref<?x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x16xbf16>, %f: f32, %n: index, %o: memref<16x16xf32>) kernel {
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
    gpu.return
  }
}
