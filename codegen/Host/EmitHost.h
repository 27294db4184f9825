//===- EmitHost.h - LLVM IR for the machine at hand -----------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_HOST_EMITHOST_H
#define ATTN_CODEGEN_HOST_EMITHOST_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace mlir::attn {

/// Translates a module of the LLVM dialect and optimises it for the processor
/// that this program runs on. Beside function `entry` there is another one,
/// named as `getPackedName` says, that takes the addresses of all arguments:
/// what `HostCode` calls. The error is a diagnostic.
FailureOr<std::unique_ptr<llvm::Module>>
translateToHost(ModuleOp module, StringRef entry, llvm::LLVMContext &context);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_HOST_EMITHOST_H
