// RUN: attn-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{failed to parse Attn_CausalAttr parameter 'alignment'}}
// expected-error @below {{expected ::mlir::attn::Alignment to be one of: top_left, bottom_right}}
func.func private @unknown_alignment() attributes {a = #attn.causal<center>}

// -----

// The alignment has no default.
// expected-error @below {{expected '<'}}
func.func private @no_alignment() attributes {a = #attn.causal}
