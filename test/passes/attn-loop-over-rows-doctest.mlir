// RUN: attn-opt %s --attn-loop-over-rows --canonicalize | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// The matrix is copied once; then every row multiplies it.
// CHECK-LABEL: @product
// CHECK: %[[MATRIX:[^ ]*]] = memref.alloc() {{.*}} : memref<4x8xf32>
// CHECK: scf.for
// CHECK:   vector.store %{{.*}}, %[[MATRIX]]
// CHECK: scf.for %[[ROW:[^ ]*]] =
// CHECK:   %[[SUM:[^ ]*]] = scf.for %[[INNER:[^ ]*]] = {{.*}} -> (vector<8xf32>)
// CHECK:     vector.load %[[MATRIX]][%[[INNER]]
// CHECK:     math.fma
// CHECK:   vector.transfer_write %[[SUM]]
// CHECK: memref.dealloc %[[MATRIX]]
func.func @product(%x: memref<?x4xf32>, %y: memref<?x8xf32>, %z: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %first = arith.muli %i, %c16 : index
    %a = vector.transfer_read %x[%first, %c0], %pad {in_bounds = [false, true]}
        : memref<?x4xf32>, vector<16x4xf32>
    %b = vector.transfer_read %y[%c0, %c0], %pad {in_bounds = [true, true]}
        : memref<?x8xf32>, vector<4x8xf32>
    %c = vector.contract {indexing_maps = [#a, #b, #c],
                          iterator_types = ["parallel", "parallel", "reduction"]}
        %a, %b, %zero : vector<16x4xf32>, vector<4x8xf32> into vector<16x8xf32>
    vector.transfer_write %c, %z[%first, %c0] {in_bounds = [false, true]}
        : vector<16x8xf32>, memref<?x8xf32>
  }
  return
}
