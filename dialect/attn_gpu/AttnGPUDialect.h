//===- AttnGPUDialect.h - The attn_gpu dialect ------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTNGPU_ATTNGPUDIALECT_H
#define ATTN_DIALECT_ATTNGPU_ATTNGPUDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/attn_gpu/AttnGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/attn_gpu/AttnGPUAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/attn_gpu/AttnGPUTypes.h.inc"

#define GET_OP_CLASSES
#include "dialect/attn_gpu/AttnGPUOps.h.inc"

namespace mlir::attn_gpu {

/// Discardable attribute of a kernel: warps that make up one worker.
inline constexpr llvm::StringLiteral kWarpsPerWorkerAttr =
    "attn_gpu.warps_per_worker";

/// Discardable attribute of a tensor map argument: the number of the memref
/// argument that it describes.
inline constexpr llvm::StringLiteral kMapOfAttr = "attn_gpu.map_of";

/// Discardable attribute of a lowered kernel: bytes of dynamic shared memory.
inline constexpr llvm::StringLiteral kSharedBytesAttr = "attn_gpu.shared_bytes";

/// Bytes of shared memory that each warp of a kernel of `mma.sync` has for
/// numbers that outlive its key loops: sixteen of them.
inline constexpr int64_t kParkedBytesPerWarp = 64;

/// Discardable attribute of an index argument: its value in terms of the sizes
/// of the memref arguments, `dim(argument, dimension)`, with + - * /, ceildiv,
/// min and max. Whoever launches the kernel evaluates it.
inline constexpr llvm::StringLiteral kFormulaAttr = "attn_gpu.formula";

} // namespace mlir::attn_gpu

#endif // ATTN_DIALECT_ATTNGPU_ATTNGPUDIALECT_H
