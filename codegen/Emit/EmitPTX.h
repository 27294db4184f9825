//===- EmitPTX.h - From a module of NVVM ops to PTX text --------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last altitude: gpu.module -> LLVM IR -> PTX, all in this process. The
// two steps are apart so that a tool can print or replace what is between.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_EMIT_EMITPTX_H
#define ATTN_CODEGEN_EMIT_EMITPTX_H

#include "codegen/Target/TargetInfo.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Support/LLVM.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir::attn {

/// Makes the dialects that may appear in a finished gpu.module translatable.
void registerEmitDialects(DialectRegistry &registry);

/// Translates `module`, which must hold LLVM and NVVM ops only, and runs the
/// LLVM passes that pay (see EmitPTX.cpp). Errors are diagnostics on `module`.
FailureOr<std::unique_ptr<llvm::Module>>
translateToLLVM(gpu::GPUModuleOp module, const TargetInfo &target,
                llvm::LLVMContext &context);

/// What a schedule says to the backend, which explains it.
struct EmitOptions {
  bool reduceStrength = false;
};

/// The PTX of `module`, which must come from translateToLLVM. `anchor` takes
/// the errors of the backend.
FailureOr<std::string> emitPTX(llvm::Module &module, const TargetInfo &target,
                               const EmitOptions &options, Operation *anchor);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_EMIT_EMITPTX_H
