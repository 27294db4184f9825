// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: #attn.causal<bottom_right>
// CHECK: #attn.causal<top_left>
func.func private @alignments() attributes {
  bottom_right = #attn.causal<bottom_right>,
  top_left = #attn.causal<top_left>
}
