//===- AttnOps.cpp - Accessors and effects of the attn ops ----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnDialect.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::attn;

#define GET_OP_CLASSES
#include "dialect/attn/AttnOps.cpp.inc"

Type mlir::attn::getSoftmaxType(Type inputs) {
  Type element = getElementTypeOrSelf(inputs);
  return element.isF64() ? element : Float32Type::get(inputs.getContext());
}

AffineMap AttentionOp::getMap(unsigned operand) {
  return cast<AffineMapAttr>(getIndexingMaps()[operand]).getValue();
}

int64_t AttentionOp::getGroupSize() {
  for (AffineExpr expr : getKeyMap().getResults())
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr))
      return cast<AffineConstantExpr>(binary.getRHS()).getValue();
  return 1;
}

unsigned AttentionOp::getOperandDim(unsigned operand, Dim dim) {
  AffineMap map = getMap(operand);
  for (auto [index, expr] : llvm::enumerate(map.getResults()))
    if (expr.isFunctionOfDim(dim))
      return index;
  llvm_unreachable("verified: the map uses every dim of its operand");
}

/// Verified: at least one of the two operands has a static extent.
static int64_t getStaticExtent(AttentionOp op, unsigned first, unsigned second,
                               AttentionOp::Dim dim) {
  for (unsigned operand : {first, second}) {
    Value value = operand < 3 ? op->getOperand(operand) : op.getOutput();
    int64_t size = cast<ShapedType>(value.getType())
                       .getDimSize(op.getOperandDim(operand, dim));
    if (ShapedType::isStatic(size))
      return size;
  }
  llvm_unreachable("verified: head dims are static");
}

int64_t AttentionOp::getHeadDimQK() {
  return getStaticExtent(*this, 0, 1, HeadDimQK);
}

int64_t AttentionOp::getHeadDimVO() {
  return getStaticExtent(*this, 2, 3, HeadDimVO);
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}
