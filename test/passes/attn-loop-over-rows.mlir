// RUN: attn-opt %s --attn-loop-over-rows --canonicalize | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// Ops without a loop between them share one loop over rows, and nothing of them
// lies in memory.
// CHECK-LABEL: @one_loop
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK:   %[[MAX:[^ ]*]] = vector.reduction <maxnumf>, %[[S:[^,]*]], %{{.*}} : vector<8xf32> into f32
// CHECK:   %[[MAXES:[^ ]*]] = vector.broadcast %[[MAX]] : f32 to vector<8xf32>
// CHECK:   arith.subf %[[S]], %[[MAXES]] : vector<8xf32>
// CHECK-NOT: scf.for
func.func @one_loop(%s: memref<?x8xf32>, %o: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant dense<0xFF800000> : vector<16xf32>
    %scores = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<16x8xf32>
    %max = vector.multi_reduction <maxnumf>, %scores, %none [1] : vector<16x8xf32> to vector<16xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %maxes = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %rest = arith.subf %scores, %maxes : vector<16x8xf32>
    vector.transfer_write %rest, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<?x8xf32>
  }
  return
}

// CHECK-LABEL: @single_row
// CHECK: %[[SUM:[^ ]*]] = vector.reduction <add>
// CHECK: vector.broadcast %[[SUM]] : f32 to vector<8xf32>
func.func @single_row(%s: memref<?x8xf32>, %o: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %scores = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<1x8xf32>
    %sum = vector.multi_reduction <add>, %scores, %zero [1] : vector<1x8xf32> to vector<1xf32>
    %sums = vector.broadcast %sum : vector<1xf32> to vector<1x8xf32>
    vector.transfer_write %sums, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<1x8xf32>, memref<?x8xf32>
  }
  return
}

// A row outside the tensor is padding, and is not written.
// CHECK-LABEL: @bounds
// CHECK: %[[READ:[^ ]*]] = arith.cmpi slt
// CHECK: scf.if %[[READ]] -> (vector<8xf32>)
// CHECK: %[[WRITE:[^ ]*]] = arith.cmpi slt
// CHECK: scf.if %[[WRITE]]
// CHECK-NEXT: vector.transfer_write
func.func @bounds(%s: memref<?x8xf32>, %o: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %scores = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [false, true]}
        : memref<?x8xf32>, vector<16x8xf32>
    vector.transfer_write %scores, %o[%i, %c0] {in_bounds = [false, true]}
        : vector<16x8xf32>, memref<?x8xf32>
  }
  return
}

// One value per row is written one by one, whatever the stride.
// CHECK-LABEL: @row_vector
// CHECK: memref.store %{{.*}} : memref<?xf32, strided<[?]>>
func.func @row_vector(%s: memref<?x8xf32>, %o: memref<?xf32, strided<[?]>>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %scores = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<16x8xf32>
    %sum = vector.multi_reduction <add>, %scores, %zero [1] : vector<16x8xf32> to vector<16xf32>
    vector.transfer_write %sum, %o[%i] {in_bounds = [true]} : vector<16xf32>, memref<?xf32, strided<[?]>>
  }
  return
}

// B is turned around on its way to memory, in the type of the sums.
// CHECK-LABEL: @transposed_b
// CHECK: memref.alloc() {{.*}} : memref<4x8xf32>
// CHECK: arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[COLUMN:[^ ]*]], %[[ROW:[^ ]*]]] : memref<4x8xf32>
func.func @transposed_b(%x: memref<?x4xbf16>, %o: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %a = vector.transfer_read %x[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x4xbf16>, vector<16x4xbf16>
    %b = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]}
        : memref<?x4xbf16>, vector<8x4xbf16>
    %c = vector.contract {indexing_maps = [#a, #bt, #c],
                          iterator_types = ["parallel", "parallel", "reduction"]}
        %a, %b, %zero : vector<16x4xbf16>, vector<8x4xbf16> into vector<16x8xf32>
    vector.transfer_write %c, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<?x8xf32>
  }
  return
}

// A loop's values lie in memory, and the next loop takes them over.
// CHECK-LABEL: @carried
// CHECK-COUNT-1: memref.alloc() {{.*}} : memref<16xf32>
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK:   memref.store
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[^ ]*}} {
// CHECK:   scf.for
// CHECK:     %[[OLD:[^ ]*]] = memref.load %[[SUM:[^ ]*]][
// CHECK:     %[[NEW:[^ ]*]] = vector.reduction <add>, %{{.*}}, %[[OLD]]
// CHECK:     memref.store %[[NEW]], %[[SUM]]
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     memref.load %[[SUM]]
func.func @carried(%s: memref<?x8xf32>, %o: memref<?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %first = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %scores = vector.transfer_read %s[%j, %c0], %pad {in_bounds = [true, true]}
          : memref<?x8xf32>, vector<16x8xf32>
      %next = vector.multi_reduction <add>, %scores, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    %second = scf.for %j = %c0 to %n step %c1 iter_args(%l = %first) -> (vector<16xf32>) {
      %scores = vector.transfer_read %s[%j, %c0], %pad {in_bounds = [true, true]}
          : memref<?x8xf32>, vector<16x8xf32>
      %next = vector.multi_reduction <add>, %scores, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %second, %o[%i] {in_bounds = [true]} : vector<16xf32>, memref<?xf32>
  }
  return
}

// Hidden scores are -inf, and a product with what becomes of them leaves their
// keys out.
// CHECK-LABEL: @hidden_keys
// CHECK: %[[COLUMN:[^ ]*]] = vector.step : vector<4xindex>
// CHECK: arith.cmpi sge, %[[COLUMN]]
// CHECK: arith.cmpi slt, %[[COLUMN]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<4xi1>, vector<4xf32>
// CHECK: math.exp2
// CHECK: %[[FROM:[^ ]*]] = arith.maxsi
// CHECK: %[[TO:[^ ]*]] = arith.minsi
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[TO]]
func.func @hidden_keys(%x: memref<?x4xf32>, %y: memref<?x8xf32>, %o: memref<?x8xf32>,
                       %n: index, %first: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %step = vector.step : vector<16xindex>
    %from = vector.broadcast %first : index to vector<16xindex>
    %scores = vector.transfer_read %x[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x4xf32>, vector<16x4xf32>
    %masked = attn.mask_band %scores at(%c0) [%from, %step] : vector<16x4xf32>, vector<16xindex>
    %weights = math.exp2 %masked : vector<16x4xf32>
    %values = vector.transfer_read %y[%c0, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<4x8xf32>
    %c = vector.contract {indexing_maps = [#a, #b, #c],
                          iterator_types = ["parallel", "parallel", "reduction"]}
        %weights, %values, %zero : vector<16x4xf32>, vector<4x8xf32> into vector<16x8xf32>
    vector.transfer_write %c, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<?x8xf32>
  }
  return
}

// More columns than vector registers hold are multiplied some at a time.
// CHECK-LABEL: @wide_product
// CHECK: vector.store %{{.*}}, %[[SUMS:[^ ]*]][%{{.*}}] : memref<48xf32>
// CHECK: scf.for %[[AT:[^ ]*]] =
// CHECK:   vector.load %[[SUMS]][%[[AT]]] : memref<48xf32>, vector<24xf32>
// CHECK:   scf.for {{.*}} -> (vector<24xf32>)
// CHECK:     vector.load %{{.*}}[%{{.*}}, %[[AT]]] : memref<4x48xf32>, vector<24xf32>
func.func @wide_product(%x: memref<?x4xf32>, %y: memref<?x48xf32>, %o: memref<?x48xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<16x48xf32>
    %a = vector.transfer_read %x[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x4xf32>, vector<16x4xf32>
    %b = vector.transfer_read %y[%c0, %c0], %pad {in_bounds = [true, true]}
        : memref<?x48xf32>, vector<4x48xf32>
    %c = vector.contract {indexing_maps = [#a, #b, #c],
                          iterator_types = ["parallel", "parallel", "reduction"]}
        %a, %b, %zero : vector<16x4xf32>, vector<4x48xf32> into vector<16x48xf32>
    vector.transfer_write %c, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<16x48xf32>, memref<?x48xf32>
  }
  return
}

// A long sum is a sum of short ones.
// CHECK-LABEL: @long_product
// CHECK: scf.for %[[FIRST:[^ ]*]] = %{{.*}} to %[[END:[^ ]*]] step %[[STEP:[^ ]*]] iter_args(%[[SUM:[^ ]*]] =
// CHECK:   %[[NEXT:[^ ]*]] = arith.addi %[[FIRST]], %[[STEP]]
// CHECK:   %[[LAST:[^ ]*]] = arith.minsi %[[NEXT]], %[[END]]
// CHECK:   %[[PART:[^ ]*]] = scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK:   arith.addf %[[SUM]], %[[PART]]
func.func @long_product(%x: memref<?x48xf32>, %y: memref<?x8xf32>, %o: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %a = vector.transfer_read %x[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x48xf32>, vector<16x48xf32>
    %b = vector.transfer_read %y[%c0, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<48x8xf32>
    %c = vector.contract {indexing_maps = [#a, #b, #c],
                          iterator_types = ["parallel", "parallel", "reduction"]}
        %a, %b, %zero : vector<16x48xf32>, vector<48x8xf32> into vector<16x8xf32>
    vector.transfer_write %c, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<?x8xf32>
  }
  return
}

// CHECK-LABEL: @negative_loop_without_tiles
// CHECK: scf.forall
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
func.func @negative_loop_without_tiles(%o: memref<?xf32>, %x: f32, %n: index) {
  scf.forall (%i) in (%n) {
    memref.store %x, %o[%i] : memref<?xf32>
  }
  return
}
