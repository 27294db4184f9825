//===- ParkValues.h - Scalars that wait in shared memory --------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_PARKVALUES_H
#define ATTN_CODEGEN_TONVVM_PARKVALUES_H

#include "codegen/ToNVVM/Kernel.h"

namespace mlir::attn_gpu {

/// Numbers that a worker of one warp forms in front of its key loops and uses
/// behind them, or seldom in them, wait in shared memory, where `kernel` gets a
/// place for them.
/// Kernels of warpgroups are left alone.
void parkValues(gpu::GPUFuncOp function, Kernel &kernel);

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_PARKVALUES_H
