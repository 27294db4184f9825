//===- KernelAbi.h - Which parameters a kernel has --------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scalar parameters that stand for the arguments of a `gpu.func` at the
// kernel altitude. The conversion builds the LLVM function from this list and
// the manifest names the same list to the runtime, so they cannot disagree.
//
//     memref<?x4x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>
//       pointer to its first element: ptr<1>
//       dynamic sizes, in order: i32 (dim 0), i32 (dim 2)
//       dynamic strides, in order, in elements: i64 (dims 0, 1, 2)
//     !attn_gpu.tensor_map<...>: 128 bytes by value, aligned to 64
//     index, i32: i32;  i64, f32: as they are
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_KERNELABI_H
#define ATTN_CODEGEN_TONVVM_KERNELABI_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::attn_gpu {

struct KernelParameter {
  enum class Kind { Pointer, Size, Stride, TensorMap, Scalar };
  Kind kind;
  /// The argument of the `gpu.func` that this is a part of.
  unsigned argument;
  /// The dimension that a size or stride belongs to.
  unsigned dim = 0;
  /// The LLVM type.
  Type type;
};

/// Bytes and alignment of a tensor map parameter (PTX ISA, "Tensor-map").
inline constexpr int64_t kTensorMapBytes = 128;
inline constexpr int64_t kTensorMapAlignment = 64;

/// Appends the parameters of argument number `argument`. Fails on a type that a
/// kernel cannot take.
LogicalResult appendKernelParameters(unsigned argument, Type type,
                                     SmallVectorImpl<KernelParameter> &result);

/// The parameters of a kernel that takes `arguments`.
FailureOr<SmallVector<KernelParameter>>
getKernelParameters(TypeRange arguments);

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_KERNELABI_H
