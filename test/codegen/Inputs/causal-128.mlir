// 128 x 80 tiles, 2 consumer warpgroups, causal bottom-right, GQA 4, with LSE.
#lq = #attn_gpu.panels<rows = 128, swizzle = 128>
#lk = #attn_gpu.panels<rows = 80, swizzle = 128>
!qt = memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>
!lt = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>
!qmap = !attn_gpu.tensor_map<1x128x1x64xbf16, swizzle = 128>
!kmap = !attn_gpu.tensor_map<1x80x1x64xbf16, swizzle = 128>
!qch = !attn_gpu.channel<128x128xbf16, stages = 1, #lq>
!kch = !attn_gpu.channel<80x128xbf16, stages = 2, #lk>
gpu.module @kernels {
  gpu.func @attn_fwd(%q: !qt, %k: !qt, %v: !qt, %o: !qt, %lse: !lt, %scale: f32,
                     %qm: !qmap {attn_gpu.map_of = 0}, %km: !kmap {attn_gpu.map_of = 1}, %vm: !kmap {attn_gpu.map_of = 2})
      kernel attributes {known_block_size = array<i32: 384, 1, 1>, attn_gpu.warps_per_worker = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c80 = arith.constant 80 : index
    %c128 = arith.constant 128 : index
    %qch = attn_gpu.channel consumers(2) : !qch
    %kch = attn_gpu.channel consumers(2) : !kch
    %vch = attn_gpu.channel consumers(2) : !kch
    %B = memref.dim %q, %c0 : !qt
    %Sq = memref.dim %q, %c1 : !qt
    %H = memref.dim %q, %c2 : !qt
    %Sk = memref.dim %k, %c1 : !qt
    %off = arith.subi %Sk, %Sq : index
    %nq = arith.ceildivui %Sq, %c128 : index
    %nh = arith.muli %nq, %H : index
    %n = arith.muli %nh, %B : index
    %bid = gpu.block_id x
    %step = gpu.grid_dim x
    attn_gpu.specialize producer(24) {
      %last:2 = scf.for %t = %bid to %n step %step iter_args(%qn = %c0, %kn = %c0) -> (index, index) {
        %qt = arith.remui %t, %nq : index
        %bh = arith.divui %t, %nq : index
        %h = arith.remui %bh, %H : index
        %b = arith.divui %bh, %H : index
        %hk = arith.divui %h, %c4 : index
        %q0 = arith.muli %qt, %c128 : index
        %q1 = arith.addi %q0, %c128 : index
        %qe = arith.minsi %q1, %Sq : index
        %hi0 = arith.addi %qe, %off : index
        %hi1 = arith.minsi %hi0, %Sk : index
        %hi = arith.maxsi %hi1, %c0 : index
        %trips = arith.ceildivui %hi, %c80 : index
        attn_gpu.tma_load %qm[%b, %q0, %h, %c0] to %qch[%qn] : !qmap to !qch
        %kn1 = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %kn) -> index {
          %up = arith.addi %i, %c1 : index
          %j = arith.subi %trips, %up : index
          %k0 = arith.muli %j, %c80 : index
          attn_gpu.tma_load %km[%b, %k0, %hk, %c0] to %kch[%s] : !kmap to !kch
          attn_gpu.tma_load %vm[%b, %k0, %hk, %c0] to %vch[%s] : !kmap to !kch
          %s1 = arith.addi %s, %c1 : index
          scf.yield %s1 : index
        }
        %qn1 = arith.addi %qn, %c1 : index
        scf.yield %qn1, %kn1 : index, index
      }
    } consumers(2, 240) {
      %w = attn_gpu.worker_id
      %row = arith.muli %w, %c64 : index
      %log2e = arith.constant 1.44269502 : f32
      %ln2 = arith.constant dense<0.693147182> : vector<64xf32>
      %ninf = arith.constant dense<0xFF800000> : vector<64xf32>
      %zr = arith.constant dense<0.0> : vector<64xf32>
      %zacc = arith.constant dense<0.0> : vector<64x128xf32>
      %one = arith.constant dense<1.0> : vector<64xf32>
      %sc = arith.mulf %scale, %log2e : f32
      %scr = vector.broadcast %sc : f32 to vector<64xf32>
      %scv = vector.broadcast %sc : f32 to vector<64x80xf32>
      %last:2 = scf.for %t = %bid to %n step %step iter_args(%qn = %c0, %kn = %c0) -> (index, index) {
        %qt = arith.remui %t, %nq : index
        %bh = arith.divui %t, %nq : index
        %h = arith.remui %bh, %H : index
        %b = arith.divui %bh, %H : index
        %q0 = arith.muli %qt, %c128 : index
        %q1 = arith.addi %q0, %c128 : index
        %qe = arith.minsi %q1, %Sq : index
        %hi0 = arith.addi %qe, %off : index
        %hi1 = arith.minsi %hi0, %Sk : index
        %hi = arith.maxsi %hi1, %c0 : index
        %trips = arith.ceildivui %hi, %c80 : index
        %r0 = arith.addi %q0, %row : index
        %rows0 = vector.step : vector<64xindex>
        %r0v = vector.broadcast %r0 : index to vector<64xindex>
        %rows = arith.addi %rows0, %r0v : vector<64xindex>
        %qtile = attn_gpu.receive %qch[%qn] : !qch
        %mine = attn_gpu.subtile %qtile[%row] : !attn_gpu.tile<128x128xbf16, #lq> to !attn_gpu.tile<64x128xbf16, #lq>
        %res:4 = scf.for %i = %c0 to %trips step %c1 iter_args(%s = %kn, %m = %ninf, %l = %zr, %acc = %zacc) -> (index, vector<64xf32>, vector<64xf32>, vector<64x128xf32>) {
          %up = arith.addi %i, %c1 : index
          %j = arith.subi %trips, %up : index
          %k0 = arith.muli %j, %c80 : index
          %kt = attn_gpu.receive %kch[%s] : !kch
          %sf = attn_gpu.mma_async %mine, %kt transpose_b : !attn_gpu.tile<64x128xbf16, #lq>, !attn_gpu.tile<80x128xbf16, #lk> -> !attn_gpu.inflight<64x80xf32>
          %sraw = attn_gpu.mma_wait %sf pending(0) : !attn_gpu.inflight<64x80xf32>
          attn_gpu.release %kch[%s] : !kch
          // the keys that each row sees
          %off1 = arith.addi %off, %c1 : index
          %shv = vector.broadcast %off1 : index to vector<64xindex>
          %u0 = arith.addi %rows, %shv : vector<64xindex>
          %lenv = vector.broadcast %Sk : index to vector<64xindex>
          %u = arith.minsi %u0, %lenv : vector<64xindex>
          %lo = arith.constant dense<0> : vector<64xindex>
          %sm = attn.mask_band %sraw at(%k0) [%lo, %u] : vector<64x80xf32>, vector<64xindex>
          %mn = vector.multi_reduction <maxnumf>, %sm, %m [1] : vector<64x80xf32> to vector<64xf32>
          %isn = arith.cmpf oeq, %mn, %ninf : vector<64xf32>
          %ms = arith.select %isn, %zr, %mn : vector<64xi1>, vector<64xf32>
          %msc = arith.mulf %ms, %scr : vector<64xf32>
          %neg = arith.negf %msc : vector<64xf32>
          %neg1 = vector.shape_cast %neg : vector<64xf32> to vector<64x1xf32>
          %negv = vector.broadcast %neg1 : vector<64x1xf32> to vector<64x80xf32>
          %x = math.fma %sm, %scv, %negv : vector<64x80xf32>
          %p = math.exp2 %x : vector<64x80xf32>
          %ax = math.fma %m, %scr, %neg : vector<64xf32>
          %alpha = math.exp2 %ax : vector<64xf32>
          %la = arith.mulf %l, %alpha : vector<64xf32>
          %ln = vector.multi_reduction <add>, %p, %la [1] : vector<64x80xf32> to vector<64xf32>
          %p16 = arith.truncf %p : vector<64x80xf32> to vector<64x80xbf16>
          %al1 = vector.shape_cast %alpha : vector<64xf32> to vector<64x1xf32>
          %alv = vector.broadcast %al1 : vector<64x1xf32> to vector<64x128xf32>
          %acc1 = arith.mulf %acc, %alv : vector<64x128xf32>
          %vt = attn_gpu.receive %vch[%s] : !kch
          %of = attn_gpu.mma_async %p16, %vt accumulator(%acc1 : vector<64x128xf32>) : vector<64x80xbf16>, !attn_gpu.tile<80x128xbf16, #lk> -> !attn_gpu.inflight<64x128xf32>
          %acc2 = attn_gpu.mma_wait %of pending(0) : !attn_gpu.inflight<64x128xf32>
          attn_gpu.release %vch[%s] : !kch
          %s1 = arith.addi %s, %c1 : index
          scf.yield %s1, %mn, %ln, %acc2 : index, vector<64xf32>, vector<64xf32>, vector<64x128xf32>
        }
        attn_gpu.release %qch[%qn] : !qch
        %empty = arith.cmpf oeq, %res#2, %zr : vector<64xf32>
        %rcp = arith.divf %one, %res#2 : vector<64xf32>
        %inv = arith.select %empty, %zr, %rcp : vector<64xi1>, vector<64xf32>
        %inv1 = vector.shape_cast %inv : vector<64xf32> to vector<64x1xf32>
        %invv = vector.broadcast %inv1 : vector<64x1xf32> to vector<64x128xf32>
        %of32 = arith.mulf %res#3, %invv : vector<64x128xf32>
        %o16 = arith.truncf %of32 : vector<64x128xf32> to vector<64x128xbf16>
        vector.transfer_write %o16, %o[%b, %r0, %h, %c0] {in_bounds = [false, true], permutation_map = affine_map<(d0, d1, d2, d3) -> (d1, d3)>} : vector<64x128xbf16>, !qt
        %lg = math.log2 %res#2 : vector<64xf32>
        %ml = math.fma %res#1, %scr, %lg : vector<64xf32>
        %lsev = arith.mulf %ml, %ln2 : vector<64xf32>
        %lses = arith.select %empty, %ninf, %lsev : vector<64xi1>, vector<64xf32>
        vector.transfer_write %lses, %lse[%b, %h, %r0] {in_bounds = [false]} : vector<64xf32>, !lt
        %qn1 = arith.addi %qn, %c1 : index
        scf.yield %qn1, %res#0 : index, index
      }
    }
    gpu.return
  }
}
