//===- Manifest.h - The JSON file beside a kernel ------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The compiler's half of runtime/Manifest.h. A kernel's description is put
// together while it is lowered: the tensors from the attention op, the
// parameters from the kernel before conversion, the size of shared memory from
// after it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_EMIT_MANIFEST_H
#define ATTN_CODEGEN_EMIT_MANIFEST_H

#include "codegen/Target/TargetInfo.h"
#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <string>
#include <vector>

namespace mlir::attn {

/// A tensor that the user passes; formulas are those of runtime/Formula.h.
struct TensorDescription {
  std::string name;
  bool isOutput = false;
  Type elementType;
  /// In memory order.
  std::vector<std::string> dims;
  std::vector<std::string> shape;
};

/// What a problem costs at least, whatever the kernel.
struct CostFormulas {
  std::string flops, hbmBytes;
};
CostFormulas describeCost(AttentionOp op);

/// A number that the user passes, or that has a default.
struct ScalarDescription {
  std::string name;
  Type type;
  /// The argument of the function that it is.
  unsigned argument = 0;
  /// A formula; empty if the user must pass a value.
  std::string defaultValue;
  /// A formula of what the kernel gets.
  std::string passedValue;
};

struct ProblemDescription {
  /// In the order of the function's memref arguments.
  std::vector<TensorDescription> tensors;
  /// In the order of the function's arguments behind them.
  std::vector<ScalarDescription> scalars;
  std::vector<std::string> constraints;
  CostFormulas cost;
  /// Of the grid: tiles of the schedule over the whole problem.
  std::string tiles;
  ScheduleAttr schedule;
};

/// Describes an op on memrefs that are arguments of its function, in the order
/// query, key, value, outs and then the scalars; with its schedule.
ProblemDescription describeProblem(AttentionOp op);

struct KernelDescription {
  std::string entry;
  SmallVector<Type> arguments;
  /// For a tensor map, the number of the argument that it describes.
  SmallVector<std::optional<unsigned>> mapOf;
  /// For an index, its value in terms of `dim(argument, dimension)`.
  SmallVector<std::string> formulas;
  SmallVector<int32_t, 3> block;
  int64_t sharedBytes = 0;
};

/// Describes the function that the host runs: as LLVM's conversion of functions
/// passes memrefs, by two pointers, offset, sizes and strides.
KernelDescription describeHostFunction(StringRef entry);

/// Describes a kernel at the kernel altitude; its shared memory is not known
/// there.
KernelDescription describeKernel(gpu::GPUFuncOp kernel);

/// Adds what only the kernel in LLVM form says. The error is a diagnostic.
LogicalResult addLoweredKernel(gpu::GPUModuleOp module,
                               KernelDescription &description);

struct ManifestHeader {
  std::string name;
  /// The canonical spec, as JSON.
  std::string spec;
  std::string specHash;
  /// Of the compiler.
  std::string version;
  /// Of the files beside the manifest, without the extension.
  std::string fileStem;
  /// What those files hold; no cubin where it is empty.
  StringRef ptx, cubin;
};

/// The text of NAME.json. Fails, with a diagnostic, on a kernel parameter that
/// no manifest can describe.
FailureOr<std::string> writeManifest(const ManifestHeader &header,
                                     const TargetInfo &target,
                                     const ProblemDescription &problem,
                                     const KernelDescription &kernel,
                                     Location location);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_EMIT_MANIFEST_H
