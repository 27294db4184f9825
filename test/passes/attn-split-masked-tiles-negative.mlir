// RUN: attn-opt %s --attn-split-masked-tiles -verify-diagnostics | FileCheck %s

// What is read from memory is no function of the row.
// CHECK-LABEL: @negative_bound_from_memory
// CHECK-COUNT-1: scf.for %
// CHECK-NOT: scf.for %
// CHECK: attn.mask_band
func.func @negative_bound_from_memory(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index, %ends: memref<32xindex>) {
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
    %own = vector.transfer_read %ends[%row], %c0 : memref<32xindex>, vector<16xindex>
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
      %key = arith.muli %j, %c8 : index
      %scores = vector.transfer_read %s[%row, %key], %pad : memref<32x?xf32>, vector<16x8xf32>
      %base = vector.broadcast %key : index to vector<16xindex>
      %lower = arith.subi %first_key, %base : vector<16xindex>
      %upper = arith.subi %own, %base : vector<16xindex>
      // expected-remark @below {{key tiles are not split: a bound of the mask is no function of the row}}
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// CHECK-LABEL: @negative_number_of_workers
// CHECK-COUNT-1: scf.for %
// CHECK-NOT: scf.for %
// CHECK: attn.mask_band
func.func @negative_number_of_workers(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %first_key = arith.constant dense<0> : vector<16xindex>
  scf.forall (%worker) in (%n) {
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
      // expected-remark @below {{key tiles are not split: a bound of the mask is no function of the row}}
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// The rows of the workers are not one behind the other.
// CHECK-LABEL: @negative_other_distance_of_workers
// CHECK-COUNT-1: scf.for %
// CHECK-NOT: scf.for %
// CHECK: attn.mask_band
func.func @negative_other_distance_of_workers(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 24 : index
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
      // expected-remark @below {{key tiles are not split: a bound of the mask is no function of the row}}
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// CHECK-LABEL: @negative_no_worker_loop
// CHECK-COUNT-2: scf.for %
// CHECK-NOT: scf.for %
// CHECK: attn.mask_band
func.func @negative_no_worker_loop(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %first_key = arith.constant dense<0> : vector<16xindex>
  scf.for %worker = %c0 to %n step %c1 {
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
      // expected-remark @below {{key tiles are not split: a bound of the mask is no function of the row}}
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// Bounds that are not `keys - first key of the tile` are left alone.
// CHECK-LABEL: @negative_no_absolute_bound
// CHECK-COUNT-1: scf.for %
// CHECK-NOT: scf.for %
// CHECK: attn.mask_band
func.func @negative_no_absolute_bound(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
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
      %upper = arith.addi %own, %base : vector<16xindex>
      %masked = attn.mask_band %scores[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %masked, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// CHECK-LABEL: @negative_two_masks
// CHECK-COUNT-1: scf.for %
// CHECK-NOT: scf.for %
// CHECK: attn.mask_band
func.func @negative_two_masks(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
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
      %twice = attn.mask_band %masked[%lower, %upper] : vector<16x8xf32>, vector<16xindex>
      %next = vector.multi_reduction <add>, %twice, %l [1] : vector<16x8xf32> to vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.transfer_write %sum, %o[%row] : vector<16xf32>, memref<32xf32>
  }
  return
}

// CHECK-LABEL: @negative_keys_from_1
// CHECK-COUNT-1: scf.for %
// CHECK-NOT: scf.for %
// CHECK: attn.mask_band
func.func @negative_keys_from_1(%s: memref<32x?xf32>, %o: memref<32xf32>, %n: index) {
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
    %sum = scf.for %j = %c1 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
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
