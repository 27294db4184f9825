// RUN: attn-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(attn-guard-hidden-values)))' -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t --check-prefix=KEYS
// RUN: FileCheck %s --input-file=%t --check-prefix=CAUSE
// RUN: FileCheck %s --input-file=%t --check-prefix=SLICE
// RUN: FileCheck %s --input-file=%t --check-prefix=OUTPUT

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#t = affine_map<(m, n, k) -> (n, k)>
!rows = memref<?x16xbf16>

gpu.module @kernels {
  // Whether accumulators are finite is asked before the write; absent rows are
  // asked for behind it. Repairs are in one block of columns and in blocks of
  // eight keys.
  // CHECK-LABEL: gpu.func @online
  // CHECK: %[[R:[^ ]*]]:3 = attn.tile_loop
  // CHECK: %[[SUM:[^ ]*]] = attn_gpu.row_sum %[[R]]#1
  // CHECK: %[[LANE:[^ ]*]] = attn_gpu.partial_sum %[[R]]#2
  // CHECK: %[[ZEROS:[^ ]*]] = arith.mulf %[[LANE]]
  // CHECK: %[[ALL:[^ ]*]] = attn_gpu.row_sum %[[ZEROS]]
  // CHECK: %[[NAN:[^ ]*]] = arith.cmpf uno, %[[ALL]], %[[ALL]]
  // CHECK: %[[NUMBER:[^ ]*]] = arith.cmpf ord, %[[SUM]], %[[SUM]]
  // CHECK: %[[BAD:[^ ]*]] = arith.andi %[[NAN]], %[[NUMBER]]
  // CHECK: vector.transfer_write
  // CHECK-NEXT: %[[ANY:[^ ]*]] = attn_gpu.warp_any %[[BAD]]
  // CHECK-NEXT: scf.if %[[ANY]] {
  // CHECK-NEXT: attn_gpu.warp_barrier
  // CHECK: %[[PRESENT:[^ ]*]] = arith.cmpi slt
  // CHECK: %[[REPAIRS:[^ ]*]] = arith.andi %[[BAD]], %[[PRESENT]]
  // CHECK: %[[SOME:[^ ]*]] = attn_gpu.warp_any %[[REPAIRS]]
  // CHECK-NEXT: scf.if %[[SOME]] {

  // A block of keys counts while a row to repair that sees one is not all NaN.
  // KEYS-LABEL: gpu.func @online
  // KEYS: attn_gpu.warp_barrier
  // KEYS: attn_gpu.warp_any
  // KEYS: scf.for %[[FIRST:[^ ]*]] = {{.*}} iter_args(%[[SOFAR:[^ ]*]] = %{{.*}}) -> (vector<16x16xf32>)
  // KEYS: attn.mask_band %{{.*}} at(%[[FIRST]])
  // KEYS: %[[VISIBLE:[^ ]*]] = arith.cmpf oeq
  // KEYS: %[[COUNT:[^ ]*]] = attn_gpu.partial_sum
  // KEYS: %[[SEEN:[^ ]*]] = arith.cmpf ogt, %[[COUNT]]
  // KEYS: vector.multi_reduction <maxnumf>, %[[SOFAR]]
  // KEYS: %[[OPEN:[^ ]*]] = arith.andi
  // KEYS: %[[BOTH:[^ ]*]] = arith.andi %[[SEEN]], %[[OPEN]]
  // KEYS: %[[MATTERS:[^ ]*]] = attn_gpu.warp_any %[[BOTH]]
  // KEYS: scf.if %[[MATTERS]]
  // Hidden keys have negative weights, and add nothing.
  // KEYS: %[[NONE:[^ ]*]] = arith.constant dense<-1.0
  // KEYS: %[[WEIGHTS:[^ ]*]] = arith.select %[[VISIBLE]], %{{.*}}, %[[NONE]]
  // KEYS: scf.for %[[J:[^ ]*]] = {{.*}} iter_args(%[[OLD:[^ ]*]] = %[[SOFAR]])
  // KEYS: %[[KEY:[^ ]*]] = arith.addi %[[FIRST]], %[[J]]
  // KEYS: %[[COLUMN:[^ ]*]] = attn.mask_band %[[WEIGHTS]] at(
  // KEYS: %[[WEIGHT:[^ ]*]] = vector.multi_reduction <maxnumf>, %[[COLUMN]]
  // KEYS: arith.cmpf oge, %[[WEIGHT]]
  // KEYS: vector.transfer_read %{{.*}}[%[[KEY]], %{{.*}}]{{.*}} vector<1x16xbf16>
  // KEYS: %[[NEW:[^ ]*]] = math.fma %{{.*}}, %{{.*}}, %[[OLD]]
  // KEYS: arith.select %{{.*}}, %[[NEW]], %[[OLD]]
  // KEYS: } else {
  // KEYS: scf.yield %[[SOFAR]]

  // Rows are computed again only if a value of a partial tile is not finite:
  // iterations 0 to %a of a loop from tile %f down are keys 8 (f + 1 - a) to
  // 8 (f + 1).
  // CAUSE-LABEL: gpu.func @online
  // CAUSE-SAME: %[[F:[^ ]*]]: index, %[[A:[^ ]*]]: index, %{{[^ ]*}}: index
  // CAUSE: attn_gpu.warp_barrier
  // CAUSE: scf.for
  // CAUSE: %[[BEHIND:[^ ]*]] = arith.addi %[[F]], %c1
  // CAUSE: %[[FROM:[^ ]*]] = arith.subi %[[BEHIND]], %[[A]]
  // CAUSE: %[[FIRST:[^ ]*]] = arith.muli %[[FROM]], %c8
  // CAUSE: %[[LOW:[^ ]*]] = arith.maxsi %[[FIRST]], %c0
  // CAUSE: %[[END:[^ ]*]] = arith.muli %[[BEHIND]], %c8
  // CAUSE: %[[HIGH:[^ ]*]] = arith.minsi %[[END]]
  // CAUSE: %[[ZEROS:[^ ]*]] = scf.for %[[KEY:[^ ]*]] = %[[LOW]] to %[[HIGH]] {{.*}} -> (vector<1x16xf32>)
  // CAUSE-NEXT: vector.transfer_read %{{.*}}[%[[KEY]],
  // CAUSE: math.fma
  // CAUSE-NOT: scf.for
  // CAUSE: vector.broadcast %[[ZEROS]]
  // CAUSE: arith.cmpf uno
  // CAUSE: %[[CAUSE:[^ ]*]] = attn_gpu.warp_any
  // CAUSE-NEXT: scf.if %[[CAUSE]] {

  // Scores are what the loop makes of its product: here with a bias per
  // element, one per row, one per key, and a cap; relative to the last maximum.
  // SLICE-LABEL: gpu.func @online
  // SLICE-SAME: %[[Q:[^ ]*]]: memref<?x16xbf16>, %[[K:[^ ]*]]: memref<?x16xbf16>
  // SLICE-SAME: %[[BIAS:[^ ]*]]: memref<?x?xf32>, %[[SLOPES:[^ ]*]]: vector<16x1xf32>
  // SLICE: %[[R:[^ ]*]]:3 = attn.tile_loop
  // SLICE: attn_gpu.warp_barrier
  // SLICE: scf.for %[[FIRST:[^ ]*]] = {{.*}} -> (vector<16x16xf32>)
  // SLICE: scf.if
  // SLICE: %[[SLOPE:[^ ]*]] = vector.broadcast %[[SLOPES]] : vector<16x1xf32> to vector<16x8xf32>
  // SLICE: vector.step : vector<8xindex>
  // SLICE: %[[ROW:[^ ]*]] = arith.sitofp
  // SLICE: %[[POSITION:[^ ]*]] = vector.broadcast %[[ROW]]
  // SLICE: %[[PRODUCT:[^ ]*]] = scf.for %[[D:[^ ]*]] = {{.*}} -> (vector<16x8xf32>)
  // SLICE: vector.transfer_read %[[Q]][%{{.*}}, %[[D]]]{{.*}} vector<16xbf16>
  // SLICE: vector.transfer_read %[[K]][%[[FIRST]], %[[D]]]{{.*}} vector<1x8xbf16>
  // SLICE: math.fma
  // SLICE: %[[READ:[^ ]*]] = vector.transfer_read %[[BIAS]][%{{.*}}, %[[FIRST]]]{{.*}} vector<16x8xf32>
  // SLICE: %[[BIASED:[^ ]*]] = arith.addf %[[PRODUCT]], %[[READ]]
  // SLICE: %[[SLOPED:[^ ]*]] = math.fma %[[SLOPE]], %[[POSITION]], %[[BIASED]]
  // SLICE: %[[CAPPED:[^ ]*]] = math.tanh %[[SLOPED]]
  // SLICE: attn.softmax_weights %[[CAPPED]] relative(%[[R]]#0)
  // SLICE: arith.truncf %{{.*}} : vector<16x8xf32> to vector<16x8xbf16>

  // What is done to all accumulators is done to those of repaired rows, and
  // only these are written.
  // OUTPUT-LABEL: gpu.func @online
  // OUTPUT: attn_gpu.warp_barrier
  // OUTPUT: %[[REPAIRS:[^ ]*]] = arith.andi
  // OUTPUT: %[[SUMS:[^ ]*]] = scf.for {{.*}} -> (vector<16x16xf32>)
  // OUTPUT: %[[SCALED:[^ ]*]] = arith.mulf %[[SUMS]]
  // OUTPUT: %[[ROUNDED:[^ ]*]] = arith.truncf %[[SCALED]] : vector<16x16xf32> to vector<16x16xbf16>
  // OUTPUT: vector.shape_cast %[[REPAIRS]]
  // OUTPUT: %[[MASK:[^ ]*]] = vector.broadcast
  // OUTPUT: vector.transfer_write %[[ROUNDED]], %{{.*}}], %[[MASK]]
  gpu.func @online(%q: !rows, %k: !rows, %v: !rows, %o: !rows, %bias: memref<?x?xf32>, %slopes: vector<16x1xf32>, %c: f32, %f: index, %a: index, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : bf16
    %none = arith.constant 0.0 : f32
    %nothing = arith.constant dense<0xFF800000> : vector<16xf32>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %no_scores = arith.constant dense<0.0> : vector<16x8xf32>
    %no_values = arith.constant dense<0.0> : vector<16x16xf32>
    %queries = vector.transfer_read %q[%c0, %c0], %pad {in_bounds = [false, true]} : !rows, vector<16x16xbf16>
    %lower, %upper = attn.band rows(%c0) of(%c0, %c0) lengths(%n, %n) mask(#attn.causal<top_left>) : vector<16xindex>
    %r:3 = attn.tile_loop (%i, %key) over keys step 8 first(%f) descending from(%c0) segments(partial %a, full %n)
        carries(maximum %m = %nothing : vector<16xf32>, partial_sum %l = %zero : vector<16xf32>, accumulator %acc = %no_values : vector<16x16xf32>) {
      %keys = vector.transfer_read %k[%key, %c0], %pad {in_bounds = [false, true]} : !rows, vector<8x16xbf16>
      %product = vector.contract {indexing_maps = [#a, #t, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %queries, %keys, %no_scores : vector<16x16xbf16>, vector<8x16xbf16> into vector<16x8xf32>
      %biases = vector.transfer_read %bias[%c0, %key], %none : memref<?x?xf32>, vector<16x8xf32>
      %biased = arith.addf %product, %biases : vector<16x8xf32>
      %slope = vector.broadcast %slopes : vector<16x1xf32> to vector<16x8xf32>
      %own = vector.step : vector<8xindex>
      %start = vector.broadcast %key : index to vector<8xindex>
      %position = arith.addi %own, %start : vector<8xindex>
      %row = vector.shape_cast %position : vector<8xindex> to vector<1x8xindex>
      %number = arith.index_cast %row : vector<1x8xindex> to vector<1x8xi32>
      %float = arith.sitofp %number : vector<1x8xi32> to vector<1x8xf32>
      %positions = vector.broadcast %float : vector<1x8xf32> to vector<16x8xf32>
      %sloped = math.fma %slope, %positions, %biased : vector<16x8xf32>
      %capped = math.tanh %sloped : vector<16x8xf32>
      %masked = attn.mask_band %capped at(%key) [%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %max = vector.multi_reduction <maxnumf>, %masked, %m [1] : vector<16x8xf32> to vector<16xf32>
      %s:2 = attn.rescale %l, %acc from(%m) to(%max) factor(%c) : vector<16xf32>, vector<16x16xf32> by vector<16xf32>
      %p = attn.softmax_weights %masked relative(%max) factor(%c) : vector<16x8xf32>, vector<16xf32>
      %part = attn_gpu.partial_sum %p : vector<16x8xf32> -> vector<16xf32>
      %sum = arith.addf %s#0, %part : vector<16xf32>
      %w = arith.truncf %p : vector<16x8xf32> to vector<16x8xbf16>
      %values = vector.transfer_read %v[%key, %c0], %pad {in_bounds = [false, true]} : !rows, vector<8x16xbf16>
      %next = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %w, %values, %s#1 : vector<16x8xbf16>, vector<8x16xbf16> into vector<16x16xf32>
      attn.yield %max, %sum, %next : vector<16xf32>, vector<16xf32>, vector<16x16xf32>
    }
    %whole = attn_gpu.row_sum %r#1 : vector<16xf32>
    %column = vector.shape_cast %whole : vector<16xf32> to vector<16x1xf32>
    %scale = vector.broadcast %column : vector<16x1xf32> to vector<16x16xf32>
    %scaled = arith.mulf %r#2, %scale : vector<16x16xf32>
    %rounded = arith.truncf %scaled : vector<16x16xf32> to vector<16x16xbf16>
    vector.transfer_write %rounded, %o[%c0, %c0] {in_bounds = [false, true]} : vector<16x16xbf16>, !rows
    gpu.return
  }
}
