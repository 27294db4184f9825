//===- MemRefParts.h - A memref in a kernel's parameters --------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_MEMREFPARTS_H
#define ATTN_CODEGEN_TONVVM_MEMREFPARTS_H

#include "codegen/ToNVVM/Kernel.h"

namespace mlir::attn_gpu {

/// Sizes and strides of a memref as values.
struct MemRefParts {
  Value base;
  SmallVector<Value> sizes;
  SmallVector<Value> strides;
  SmallVector<int64_t> constantStrides;
};

/// Takes apart the parameters that KernelAbi.h lists for a memref.
MemRefParts takeApart(ImplicitLocOpBuilder &b, MemRefType type,
                      ValueRange parts);

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_MEMREFPARTS_H
