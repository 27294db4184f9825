// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: #attn.window<bottom_right, left, right>
// CHECK: #attn.window<top_left, left>
// CHECK: #attn.window<top_left, right>
// CHECK: #attn.window<top_left>
func.func private @ends() attributes {
  both = #attn.window<bottom_right, left, right>,
  left = #attn.window<top_left, left>,
  right = #attn.window<top_left, right>,
  unbounded = #attn.window<top_left>
}
