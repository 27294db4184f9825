//===- BuildOp.h - From a spec to the attention op and back --- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The op is the ground truth: what a kernel computes follows from it alone.
// What the op has no place for because it only matters at launch (head counts,
// the value of the scale) or to the choice of a kernel (the target) stands in
// attributes of the function around it, so that a printed op gives the same
// spec back.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_BUILDOP_H
#define ATTN_TOOLS_ATTNC_BUILDOP_H

#include "tools/attnc/SpecParser.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attnc {

/// On the function: the target's name.
inline constexpr llvm::StringLiteral kTargetAttr = "attn.target";
/// On the function: values of the spec that are given at launch.
inline constexpr llvm::StringLiteral kLaunchAttr = "attn.launch";
/// On the function, where bits may differ from run to run.
inline constexpr llvm::StringLiteral kNondeterministicAttr =
    "attn.nondeterministic";

/// A module with one function, named as the kernel will be, around one
/// attn.attention on memrefs. `spec` must be one without unsupported parts.
/// `schedule` may be null.
mlir::OwningOpRef<mlir::ModuleOp>
buildModule(mlir::MLIRContext &context, const Spec &spec,
            mlir::attn::ScheduleAttr schedule);

/// What readModule found.
struct ModuleProblem {
  Spec spec;
  /// A user's own choice, or null.
  mlir::attn::ScheduleAttr schedule;
};

/// The problem that the one attn.attention of a module states, on tensors or
/// on memrefs. Wrong input goes to `errors`, what no spec can say (an odd
/// layout, a region) to `unsupported`.
ModuleProblem readModule(mlir::ModuleOp module, Errors &errors,
                         Errors &unsupported);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_BUILDOP_H
