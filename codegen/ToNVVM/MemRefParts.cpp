//===- MemRefParts.cpp - A memref in a kernel's parameters ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/MemRefParts.h"

using namespace mlir;
using namespace mlir::attn_gpu;

MemRefParts mlir::attn_gpu::takeApart(ImplicitLocOpBuilder &b, MemRefType type,
                                      ValueRange parts) {
  MemRefParts result;
  int64_t offset;
  // Checked when the argument's parameters were made.
  (void)type.getStridesAndOffset(result.constantStrides, offset);
  result.base = parts[0];
  unsigned next = 1;
  for (int64_t size : type.getShape())
    result.sizes.push_back(ShapedType::isDynamic(size) ? parts[next++]
                                                       : createI32(b, size));
  for (int64_t stride : result.constantStrides)
    result.strides.push_back(
        ShapedType::isDynamic(stride) ? parts[next++] : createI64(b, stride));
  return result;
}
