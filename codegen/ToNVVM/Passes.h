//===- Passes.h - From the kernel to the thread altitude --------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_PASSES_H
#define ATTN_CODEGEN_TONVVM_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace mlir::attn_gpu {

#define GEN_PASS_DECL
#include "codegen/ToNVVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/ToNVVM/Passes.h.inc"

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_PASSES_H
