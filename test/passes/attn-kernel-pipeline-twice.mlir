// Finished kernels of the module are left alone, whatever else it holds.

// RUN: attn-opt --attn-schedule-pipeline=target=sm_90a --attn-tile-pipeline --attn-kernel-pipeline %S/../codegen/Inputs/causal-128.mlir > %t.fa3
// RUN: attn-opt --attn-kernel-pipeline %t.fa3 | diff %t.fa3 -
// RUN: attn-opt --attn-schedule-pipeline=target=sm_80 --attn-tile-pipeline --attn-kernel-pipeline %S/../codegen/Inputs/causal-128.mlir > %t.fa2
// RUN: attn-opt --attn-kernel-pipeline %t.fa2 | diff %t.fa2 -
