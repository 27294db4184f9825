// RUN: attn-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected top_left or bottom_right, but got 'center'}}
func.func private @unknown_alignment() attributes {a = #attn.window<center, left>}

// -----

// expected-error @below {{expected left, right or both, in this order}}
func.func private @order() attributes {a = #attn.window<top_left, right, left>}

// -----

// expected-error @below {{expected left, right or both, in this order}}
func.func private @unknown_end() attributes {a = #attn.window<top_left, up>}
