//===- BuildOp.h - The op that is compiled -------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The op is the ground truth: what a kernel computes follows from it alone. A
// spec is one way to write one down, a module another. Either way the op comes
// to stand alone in a function that takes its tensors, then its scalars; a
// module's own op is moved there with all its attributes, known here or not.
//
// What the op has no place for because it only matters at launch (head counts,
// the value of the scale) or to the choice of a kernel (the target) stands in
// attributes of the function around it, so that a printed op gives the same
// spec back.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_BUILDOP_H
#define ATTN_TOOLS_ATTNC_BUILDOP_H

#include "tools/attnc/Failure.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <nlohmann/json.hpp>

namespace attnc {

/// On the function: the target's name.
inline constexpr llvm::StringLiteral kTargetAttr = "attn.target";
/// On the function: values of the spec that are given at launch.
inline constexpr llvm::StringLiteral kLaunchAttr = "attn.launch";
/// On the function, where bits may differ from run to run.
inline constexpr llvm::StringLiteral kNondeterministicAttr =
    "attn.nondeterministic";

/// A problem as it is compiled.
struct ModuleProblem {
  /// What a spec can say of it.
  Spec spec;
  /// The mask as it prints, where it is one that no spec can name.
  std::string mask;
  /// One function, named as the kernel will be, around one attn.attention on
  /// memrefs.
  mlir::OwningOpRef<mlir::ModuleOp> module;

  mlir::attn::AttentionOp getOp() const;
  bool isHost() const { return spec.isHost(); }
  /// Canonical, and complete, as those of specs: JSON objects.
  nlohmann::json canonical() const;
  nlohmann::json complete() const;
};

/// Builds the op that `problem.spec` states; it must be one without unsupported
/// parts.
void buildOp(mlir::MLIRContext &context, ModuleProblem &problem);

/// Takes `op` over, on tensors or on memrefs: `problem.spec` and `problem.mask`
/// must be what readOp found, but for what is given at launch.
void adoptOp(mlir::attn::AttentionOp op, ModuleProblem &problem);

/// What a module's op says of the spec's fields.
struct OpReading {
  mlir::attn::AttentionOp op;
  Spec spec;
  std::string mask;
  /// Head counts that the types pin; the spec's are else given at launch.
  std::optional<int64_t> pinnedQOHeads, pinnedKVHeads;
};

/// Reads the one attn.attention of a module. Wrong input goes to `errors`, what
/// cannot be compiled (an odd layout, a region) to `unsupported`. Values are
/// taken as they are, whether or not a spec may have them.
OpReading readOp(mlir::ModuleOp module, Errors &errors, Errors &unsupported);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_BUILDOP_H
