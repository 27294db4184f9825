//===- Passes.td - From the kernel to the thread altitude --*- tablegen -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_PASSES_TD
#define ATTN_CODEGEN_TONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertAttnToNVVMPass : Pass<"convert-attn-to-nvvm", "gpu::GPUModuleOp"> {
  let summary = "say what each thread of a kernel does";
  let description = [{
    Turns each `gpu.func` at the kernel altitude into an `llvm.func`: vectors of
    a worker become the scalars that one thread holds of them, channels become
    bytes of dynamic shared memory and mbarriers, matmuls become `wgmma`, and
    control flow becomes branches.

    Requires: kernels of one-dimensional blocks of `known_block_size`, with
    `attn_gpu.warps_per_worker`, whose matrix products are those of warpgroups.

    Guarantees: only LLVM and NVVM ops remain. The parameters are those that
    KernelAbi.h lists, and `attn_gpu.shared_bytes` on the function says how much
    dynamic shared memory a block takes.

    ```mlir
    %v = attn_gpu.mma_wait %s pending(1) : !attn_gpu.inflight<64x8xf32>
    ```
    becomes
    ```mlir
    %r = llvm.inline_asm has_side_effects
        "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
        %s0, %s1, %s2, %s3 : ... -> !llvm.struct<(f32, f32, f32, f32)>
    ```
  }];
  let dependentDialects = ["LLVM::LLVMDialect", "NVVM::NVVMDialect",
                           "arith::ArithDialect", "cf::ControlFlowDialect",
                           "scf::SCFDialect"];
}

#endif // ATTN_CODEGEN_TONVVM_PASSES_TD
