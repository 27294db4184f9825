// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @tile_loop_c1(%n: index) {
  // expected-error @below {{expected a segment}}
  attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments() {
  }
  return
}

// -----

func.func @an_end_for_each_kind(%n: index) {
  // expected-error @below {{expected an index per segment and a value per role, but got 1 operands for 2 and 0}}
  "attn.tile_loop"(%n, %n, %n) <{axis = #attn<axis keys>, step = 8 : i64, kinds = [#attn<segment partial>, #attn<segment full>], roles = []}> ({
  ^bb0(%i: index, %key: index):
    attn.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @tile_loop_c2(%n: index) {
  // expected-error @below {{expected a positive step, but got 0}}
  attn.tile_loop (%i, %key) over keys step 0 first(%n) from(%n) segments(full %n) {
  }
  return
}

// -----

func.func @tile_loop_c3(%n: index) {
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  // expected-error @below {{expected ends that do not decrease, but got 2 after 3}}
  attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(partial %c3, full %c2) {
  }
  return
}

// -----

func.func @a_tail_is_one(%n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-error @below {{expected at most one iteration of a tail, but got 2}}
  attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%c0) segments(tail %c2) {
  }
  return
}

// -----

func.func @tile_loop_c4(%n: index, %x: f32) {
  // expected-error @below {{0-th region iter_arg and 0-th yielded value have different type: 'f32' != 'index'}}
  attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n)
      carries(sum %l = %x : f32) {
    attn.yield %i : index
  }
  return
}

// -----

func.func @arguments(%n: index) {
  // expected-error @below {{expected region arguments to start with two of type index}}
  "attn.tile_loop"(%n, %n, %n) <{axis = #attn<axis keys>, step = 8 : i64, kinds = [#attn<segment full>], roles = []}> ({
  ^bb0(%i: index):
    attn.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @terminator(%n: index, %x: f32) {
  // expected-error @below {{expected attn.yield at the end, but got llvm.unreachable}}
  attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n)
      carries(sum %l = %x : f32) {
    llvm.unreachable
  }
  return
}

// -----

func.func @iteration(%n: index) {
  // expected-error @below {{expected region arguments to start with two of type index}}
  "attn.tile_loop"(%n, %n, %n) <{axis = #attn<axis keys>, step = 8 : i64, kinds = [#attn<segment full>], roles = []}> ({
  ^bb0(%i: i32, %key: index):
    attn.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @results(%n: index, %x: f32) {
  // expected-error @below {{different number of loop results and region iter_args: 0 != 1}}
  "attn.tile_loop"(%n, %n, %n, %x) <{axis = #attn<axis keys>, step = 8 : i64, kinds = [#attn<segment full>], roles = [#attn<carried sum>]}> ({
  ^bb0(%i: index, %key: index, %l: f32):
    attn.yield %l : f32
  }) : (index, index, index, f32) -> ()
  return
}

// -----

func.func @tile_loop_c5(%n: index, %x: f32) {
  // expected-error @below {{expected each role once, but got sum twice}}
  attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n)
      carries(sum %l = %x : f32, sum %k = %x : f32) {
    attn.yield %l, %k : f32, f32
  }
  return
}

// -----

func.func @axis(%n: index) {
  // expected-error @below {{expected keys or rows, but got 'columns'}}
  attn.tile_loop (%i, %key) over columns step 8 first(%n) from(%n) segments(full %n) {
  }
  return
}

// -----

func.func @kind(%n: index) {
  // expected-error @below {{expected partial, full or tail, but got 'half'}}
  attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(half %n) {
  }
  return
}

// -----

func.func @role(%n: index, %x: f32) {
  // expected-error @below {{expected maximum, sum, partial_sum, accumulator or weights, but got 'minimum'}}
  attn.tile_loop (%i, %key) over keys step 8 first(%n) from(%n) segments(full %n) carries(minimum %l = %x : f32) {
  }
  return
}
