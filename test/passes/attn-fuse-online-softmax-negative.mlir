// RUN: attn-opt %s --attn-fuse-online-softmax | FileCheck %s

// The squares of the weights are summed.
// CHECK-LABEL: @negative_not_linear
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_not_linear(%s: memref<16x?xf32>, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %squares = arith.mulf %weights, %weights : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %squares, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @negative_other_bounds
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_other_bounds(%s: memref<16x?xf32>, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c1 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @negative_other_scores
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_other_scores(%s: memref<16x?xf32>, %t: memref<16x?xf32>, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %t[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// A reference that is not the maximum does not say how to rescale.
// CHECK-LABEL: @negative_other_reference
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_other_reference(%s: memref<16x?xf32>, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %none : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// A factor of the tile says nothing of the tiles before.
// CHECK-LABEL: @negative_factor_from_the_loop
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_factor_from_the_loop(%s: memref<16x?xf32>, %n: index, %t: memref<?xf32>)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %c = memref.load %t[%j] : memref<?xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// Nor does a reference that is made from the maximum there.
// CHECK-LABEL: @negative_reference_from_the_loop
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_reference_from_the_loop(%s: memref<16x?xf32>, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %empty = arith.cmpf oeq, %max, %none : vector<16xf32>
    %reference = arith.select %empty, %zero, %max : vector<16xi1>, vector<16xf32>
    %column = vector.shape_cast %reference : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// A sum that starts at 1 would be rescaled with the rest.
// CHECK-LABEL: @negative_sum_from_1
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_sum_from_1(%s: memref<16x?xf32>, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<1.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @negative_maximum_from_0
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_maximum_from_0(%s: memref<16x?xf32>, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// The second loop would read what was written.
// CHECK-LABEL: @negative_write_between
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: memref.store
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_write_between(%s: memref<16x?xf32>, %n: index, %c: f32)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  memref.store %pad, %s[%c0, %c0] : memref<16x?xf32>
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// A write in the loop must stay.
// CHECK-LABEL: @negative_write_in_loop
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store
func.func @negative_write_in_loop(%s: memref<16x?xf32>, %n: index, %c: f32, %t: memref<?xf32>)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    memref.store %c, %t[%j] : memref<?xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %max, %sum : vector<16xf32>, vector<16xf32>
}

// CHECK-LABEL: @negative_maximum_used_between
// CHECK: scf.for
// CHECK: vector.multi_reduction <maxnumf>
// CHECK: scf.if
// CHECK: scf.for
// CHECK: vector.multi_reduction <add>
func.func @negative_maximum_used_between(%s: memref<16x?xf32>, %n: index, %c: f32, %flag: i1)
    -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<16xf32>
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %max = scf.for %j = %c0 to %n step %c1 iter_args(%m = %none) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %next = vector.multi_reduction <maxnumf>, %scores, %m [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %shown = scf.if %flag -> (vector<16xf32>) {
    scf.yield %max : vector<16xf32>
  } else {
    scf.yield %none : vector<16xf32>
  }
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%l = %zero) -> (vector<16xf32>) {
    %scores = vector.transfer_read %s[%c0, %j], %pad : memref<16x?xf32>, vector<16x8xf32>
    %column = vector.shape_cast %max : vector<16xf32> to vector<16x1xf32>
    %references = vector.broadcast %column : vector<16x1xf32> to vector<16x8xf32>
    %differences = arith.subf %scores, %references : vector<16x8xf32>
    %factors = vector.broadcast %c : f32 to vector<16x8xf32>
    %power = arith.mulf %differences, %factors : vector<16x8xf32>
    %weights = math.exp2 %power : vector<16x8xf32>
    %next = vector.multi_reduction <add>, %weights, %l [1] : vector<16x8xf32> to vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %shown, %sum : vector<16xf32>, vector<16xf32>
}
