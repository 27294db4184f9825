// RUN: attn-opt %s --verify-roundtrip
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn_gpu.worker_id
func.func @worker_id() -> index {
  %worker = attn_gpu.worker_id
  return %worker : index
}
