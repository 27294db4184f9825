// RUN: attn-opt %s --attn-split-masked-tiles | FileCheck %s

// CHECK-LABEL: @from_the_last_key_to_the_first
// CHECK: %[[END:[^ ]*]] = arith.ceildivui
// CHECK: %[[LAST:[^ ]*]] = arith.subi %[[END]]
// CHECK: scf.for %[[VISIT:[^ ]*]] =
// CHECK: %[[TILE:[^ ]*]] = arith.subi %[[LAST]], %[[VISIT]]
// CHECK: arith.muli %[[TILE]]
// A lower bound of 0 hides nothing of any tile, and stays 0.
// CHECK: attn.mask_band %{{.*}}[%[[ZERO:cst[^,]*]], %{{.*}}]
func.func @from_the_last_key_to_the_first(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %first_key = arith.constant dense<0> : vector<16xindex>
  scf.forall (%worker) in (2) {
    %row = arith.muli %worker, %c16 : index
    %step = vector.step : vector<16xindex>
    %rows = vector.broadcast %row : index to vector<16xindex>
    %own = arith.addi %step, %rows : vector<16xindex>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %key = arith.muli %j, %c8 : index
      %scores = vector.transfer_read %s[%row, %key], %pad : memref<32x?xf32>, vector<16x8xf32>
      %base = vector.broadcast %key : index to vector<16xindex>
      %lower = arith.subi %first_key, %base : vector<16xindex>
      %upper = arith.subi %own, %base : vector<16xindex>
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// The last of the 32 rows says where the keys end, the first where full tiles do.
// CHECK-LABEL: @rows_of_all_workers
// CHECK: %[[LAST_ROW:[^ ]*]] = arith.constant 31
// CHECK: arith.addi %[[LAST_ROW]]
// CHECK: scf.forall (%{{.*}}) in (2)
func.func @rows_of_all_workers(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %first_key = arith.constant dense<0> : vector<16xindex>
  scf.forall (%worker) in (2) {
    %row = arith.muli %worker, %c16 : index
    %step = vector.step : vector<16xindex>
    %rows = vector.broadcast %row : index to vector<16xindex>
    %own = arith.addi %step, %rows : vector<16xindex>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %key = arith.muli %j, %c8 : index
      %scores = vector.transfer_read %s[%row, %key], %pad : memref<32x?xf32>, vector<16x8xf32>
      %base = vector.broadcast %key : index to vector<16xindex>
      %lower = arith.subi %first_key, %base : vector<16xindex>
      %upper = arith.subi %own, %base : vector<16xindex>
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// A lower end adds a third loop of partial tiles.
// CHECK-LABEL: @lower_bound_too
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: attn.mask_band
// CHECK: scf.for
// CHECK-NOT: attn.mask_band
// CHECK: scf.for
// CHECK: attn.mask_band
func.func @lower_bound_too(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %first_key = arith.constant dense<0> : vector<16xindex>
  scf.forall (%worker) in (2) {
    %row = arith.muli %worker, %c16 : index
    %step = vector.step : vector<16xindex>
    %rows = vector.broadcast %row : index to vector<16xindex>
    %own = arith.addi %step, %rows : vector<16xindex>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %key = arith.muli %j, %c8 : index
      %scores = vector.transfer_read %s[%row, %key], %pad : memref<32x?xf32>, vector<16x8xf32>
      %base = vector.broadcast %key : index to vector<16xindex>
      %lower = arith.subi %own, %base : vector<16xindex>
      %upper = arith.subi %own, %base : vector<16xindex>
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// Without a bound that depends on the row all tiles are full, but the first one visited is compared.
// CHECK-LABEL: @first_visit_is_partial
// CHECK: arith.maxsi
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: attn.mask_band
// CHECK: scf.for
// CHECK-NOT: attn.mask_band
func.func @first_visit_is_partial(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %first_key = arith.constant dense<0> : vector<16xindex>
  scf.forall (%worker) in (2) {
    %row = arith.muli %worker, %c16 : index
    %step = vector.step : vector<16xindex>
    %rows = vector.broadcast %row : index to vector<16xindex>
    %own = arith.addi %rows, %first_key : vector<16xindex>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %key = arith.muli %j, %c8 : index
      %scores = vector.transfer_read %s[%row, %key], %pad : memref<32x?xf32>, vector<16x8xf32>
      %base = vector.broadcast %key : index to vector<16xindex>
      %lower = arith.subi %first_key, %base : vector<16xindex>
      %upper = arith.subi %own, %base : vector<16xindex>
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// Where all rows end at one key, the first visit is the only partial one, and
// the bound says so.
// CHECK-LABEL: @rows_of_one_end
// CHECK: %[[ONE:c1_[^ ]*]] = arith.constant 1 : index
// CHECK: %[[TILES:.*]] = arith.ceildivui
// CHECK: %[[LAST:.*]] = arith.subi %[[TILES]], %[[ONE]]
// CHECK: %[[END:.*]] = arith.subi %[[TILES]]
// CHECK: %[[PARTIAL:.*]] = arith.minsi %[[ONE]], %[[END]]
// CHECK: scf.forall
// CHECK: scf.for {{.*}} to %[[PARTIAL]]
// CHECK: attn.mask_band
// CHECK: scf.for {{.*}} = %[[PARTIAL]] to %[[END]]
func.func @rows_of_one_end(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %first_key = arith.constant dense<0> : vector<16xindex>
  scf.forall (%worker) in (2) {
    %row = arith.muli %worker, %c16 : index
    %own = vector.broadcast %m : index to vector<16xindex>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %key = arith.muli %j, %c8 : index
      %scores = vector.transfer_read %s[%row, %key], %pad : memref<32x?xf32>, vector<16x8xf32>
      %base = vector.broadcast %key : index to vector<16xindex>
      %lower = arith.subi %first_key, %base : vector<16xindex>
      %upper = arith.subi %own, %base : vector<16xindex>
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}
