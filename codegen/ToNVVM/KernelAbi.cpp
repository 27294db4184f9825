//===- KernelAbi.cpp - Which parameters a kernel has ----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/KernelAbi.h"

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::attn_gpu;

using Kind = KernelParameter::Kind;

static LogicalResult
appendMemRefParameters(unsigned argument, MemRefType type,
                       SmallVectorImpl<KernelParameter> &result) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return failure();
  MLIRContext *context = type.getContext();
  Type global = LLVM::LLVMPointerType::get(
      context, static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  Type size = IntegerType::get(context, 32);
  Type stride = IntegerType::get(context, 64);
  result.push_back({Kind::Pointer, argument, 0, global});
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      result.push_back({Kind::Size, argument, dim, size});
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    if (ShapedType::isDynamic(strides[dim]))
      result.push_back({Kind::Stride, argument, dim, stride});
  return success();
}

LogicalResult mlir::attn_gpu::appendKernelParameters(
    unsigned argument, Type type, SmallVectorImpl<KernelParameter> &result) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return appendMemRefParameters(argument, memref, result);
  if (isa<TensorMapType>(type)) {
    result.push_back({Kind::TensorMap, argument, 0,
                      LLVM::LLVMPointerType::get(type.getContext())});
    return success();
  }
  if (type.isIndex()) {
    result.push_back(
        {Kind::Scalar, argument, 0, IntegerType::get(type.getContext(), 32)});
    return success();
  }
  if (type.isSignlessInteger(32) || type.isSignlessInteger(64) ||
      type.isF32()) {
    result.push_back({Kind::Scalar, argument, 0, type});
    return success();
  }
  return failure();
}

FailureOr<SmallVector<KernelParameter>>
mlir::attn_gpu::getKernelParameters(TypeRange arguments) {
  SmallVector<KernelParameter> result;
  for (auto [number, type] : llvm::enumerate(arguments))
    if (failed(appendKernelParameters(number, type, result)))
      return failure();
  return result;
}
