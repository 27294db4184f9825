// RUN: attn-opt %s --attn-loop-over-rows -split-input-file -verify-diagnostics

func.func @no_row_op(%s: memref<?x8xf32>, %o: memref<?x16xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %a = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<8x8xf32>
    // expected-error @below {{cannot be computed row by row}}
    %b = vector.transpose %a, [1, 0] : vector<8x8xf32> to vector<8x8xf32>
    vector.transfer_write %b, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<8x8xf32>, memref<?x16xf32>
  }
  return
}

// -----

func.func @other_rows(%s: memref<?x8xf32>, %o: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %a = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<16x8xf32>
    // expected-error @below {{expected 16 rows in a tile loop, but got 'vector<4x8xf32>'}}
    %b = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<4x8xf32>
    vector.transfer_write %a, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<?x8xf32>
    vector.transfer_write %b, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<4x8xf32>, memref<?x8xf32>
  }
  return
}

// -----

func.func @reduction_of_rows(%s: memref<?x16xf32>, %o: memref<?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %a = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x16xf32>, vector<16x16xf32>
    // expected-error @below {{expected a reduction of columns}}
    %b = vector.multi_reduction <add>, %a, %zero [0] : vector<16x16xf32> to vector<16xf32>
    vector.transfer_write %b, %o[%i] {in_bounds = [true]} : vector<16xf32>, memref<?xf32>
  }
  return
}

// -----

func.func @row_for_all_rows(%s: memref<?x8xf32>, %o: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %a = vector.transfer_read %s[%c0, %i], %pad {in_bounds = [true]}
        : memref<?x8xf32>, vector<8xf32>
    // expected-error @below {{expected a scalar or a column, but got 'vector<8xf32>'}}
    %b = vector.broadcast %a : vector<8xf32> to vector<8x8xf32>
    vector.transfer_write %b, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<8x8xf32>, memref<?x8xf32>
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @computed_matrix(%s: memref<?x8xf32>, %o: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %a = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<8x8xf32>
    %square = arith.mulf %a, %a : vector<8x8xf32>
    // expected-error @below {{expected a * b or a * b^T with a b that is read for this product alone}}
    %p = vector.contract {indexing_maps = [#a, #b, #c],
                          iterator_types = ["parallel", "parallel", "reduction"]}
        %a, %square, %a : vector<8x8xf32>, vector<8x8xf32> into vector<8x8xf32>
    vector.transfer_write %p, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<8x8xf32>, memref<?x8xf32>
  }
  return
}

// -----

func.func @carried_scalar(%s: memref<?x8xf32>, %o: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : f32
    %a = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<16x8xf32>
    // expected-error @below {{expected a loop in a tile loop to carry tiles alone, but got 'index'}}
    %b:2 = scf.for %j = %c0 to %n step %c1 iter_args(%x = %a, %y = %c0) -> (vector<16x8xf32>, index) {
      scf.yield %x, %y : vector<16x8xf32>, index
    }
    vector.transfer_write %b#0, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<?x8xf32>
  }
  return
}

// -----

func.func @choice(%s: memref<?x8xf32>, %o: memref<?x8xf32>, %n: index, %x: i1) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %a = vector.transfer_read %s[%i, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<16x8xf32>
    // expected-error @below {{expected no regions in a tile loop but those of loops that carry tiles}}
    scf.if %x {
      vector.transfer_write %a, %o[%i, %c0] {in_bounds = [true, true]}
          : vector<16x8xf32>, memref<?x8xf32>
    }
    vector.transfer_write %a, %o[%i, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<?x8xf32>
  }
  return
}

// -----

func.func @many_constants(%o: memref<?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{expected a splat in a tile loop}}
    %a = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
    vector.transfer_write %a, %o[%i] {in_bounds = [true]} : vector<2xf32>, memref<?xf32>
  }
  return
}
