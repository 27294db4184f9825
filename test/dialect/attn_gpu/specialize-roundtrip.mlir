// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn_gpu.specialize producer(24) {
// CHECK: } consumers(2, 240) {
func.func @specialize() {
  attn_gpu.specialize producer(24) {
  } consumers(2, 240) {
    %worker = attn_gpu.worker_id
  }
  return
}
