//===- HoistToHost.cpp - attn-hoist-to-host -------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// %n = arith.ceildivui (memref.dim %q, 1), 192
//   ->  a kernel argument %n {attn_gpu.formula = "ceildiv(dim(0, 1), 192)"}
//
// Registers are what a kernel is short of, and a value that all threads hold
// through all loops is the worst use of one. An argument stays in constant
// memory, and the host divides once where every thread would.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNHOISTTOHOSTPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static std::optional<std::string> getFormula(Value value);

static std::optional<std::string> getDimFormula(memref::DimOp op) {
  auto memref = dyn_cast<BlockArgument>(op.getSource());
  std::optional<int64_t> dim = op.getConstantIndex();
  if (!memref || !dim || !isa<gpu::GPUFuncOp>(memref.getOwner()->getParentOp()))
    return std::nullopt;
  return llvm::formatv("dim({0}, {1})", memref.getArgNumber(), *dim).str();
}

static std::optional<std::string> getBinaryFormula(Operation *op) {
  StringRef form =
      llvm::TypeSwitch<Operation *, StringRef>(op)
          .Case<arith::AddIOp>([](auto) { return "({0} + {1})"; })
          .Case<arith::SubIOp>([](auto) { return "({0} - {1})"; })
          .Case<arith::MulIOp>([](auto) { return "({0} * {1})"; })
          .Case<arith::DivUIOp>([](auto) { return "({0} / {1})"; })
          .Case<arith::CeilDivUIOp>([](auto) { return "ceildiv({0}, {1})"; })
          .Case<arith::MinSIOp>([](auto) { return "min({0}, {1})"; })
          .Case<arith::MaxSIOp>([](auto) { return "max({0}, {1})"; })
          .Default([](auto) { return ""; });
  if (form.empty())
    return std::nullopt;
  std::optional<std::string> left = getFormula(op->getOperand(0));
  std::optional<std::string> right = getFormula(op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  return llvm::formatv(form.data(), *left, *right).str();
}

/// `value` as a formula of the sizes of the kernel's arguments.
static std::optional<std::string> getFormula(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isIndex())
    return std::nullopt;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::to_string(*constant);
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return getDimFormula(dim);
  return getBinaryFormula(op);
}

/// Whether `op` computes with sizes, rather than being one.
static bool isComputation(Operation &op) {
  return op.getNumResults() == 1 && op.getNumOperands() == 2 &&
         !isa<memref::DimOp>(op) && getFormula(op.getResult(0));
}

namespace {

struct AttnHoistToHost : attn::impl::AttnHoistToHostPassBase<AttnHoistToHost> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    Block &body = kernel.getBody().front();
    SmallVector<Operation *> computations;
    for (Operation &op : body)
      if (isComputation(op))
        computations.push_back(&op);
    // Last first: what only fed another formula is dead by then.
    for (Operation *op : llvm::reverse(computations)) {
      if (!op->use_empty())
        replaceByArgument(kernel, *op);
      op->erase();
    }
  }

  void replaceByArgument(gpu::GPUFuncOp kernel, Operation &op) {
    Builder builder(&getContext());
    auto formula = builder.getDictionaryAttr(builder.getNamedAttr(
        attn_gpu::kFormulaAttr,
        builder.getStringAttr(*getFormula(op.getResult(0)))));
    unsigned position = kernel.getNumArguments();
    (void)kernel.insertArgument(position, builder.getIndexType(), formula,
                                op.getLoc());
    op.getResult(0).replaceAllUsesWith(kernel.getArgument(position));
  }
};

} // namespace
