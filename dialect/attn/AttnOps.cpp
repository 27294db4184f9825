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

SmallVector<AttentionOp::Tensor> AttentionOp::getTensors() {
  SmallVector<Tensor> tensors;
  for (Tensor tensor : {Query, KeyTensor, ValueTensor, Output, Lse, Bias})
    if (getTensor(tensor))
      tensors.push_back(tensor);
  return tensors;
}

Value AttentionOp::getTensor(Tensor tensor) {
  switch (tensor) {
  case Query:
    return getQuery();
  case KeyTensor:
    return getKey();
  case ValueTensor:
    return getValue();
  case Output:
    return getOutput();
  case Lse:
    return getLse();
  case Bias:
    return getBias();
  }
  llvm_unreachable("no other tensor has a map");
}

AffineMap AttentionOp::getMap(Tensor tensor) {
  SmallVector<Tensor> tensors = getTensors();
  auto *found = llvm::find(tensors, tensor);
  assert(found != tensors.end() && "expected a tensor that the op has");
  return cast<AffineMapAttr>(getIndexingMaps()[found - tensors.begin()])
      .getValue();
}

int64_t AttentionOp::getGroupSize() {
  for (AffineExpr expr : getMap(KeyTensor).getResults())
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr))
      return cast<AffineConstantExpr>(binary.getRHS()).getValue();
  return 1;
}

unsigned AttentionOp::getOperandDim(Tensor tensor, Dim dim) {
  for (auto [index, expr] : llvm::enumerate(getMap(tensor).getResults()))
    if (expr.isFunctionOfDim(dim))
      return index;
  llvm_unreachable("verified: the map uses every dim of its operand");
}

/// Verified: at least one of the two tensors has a static extent.
static int64_t getStaticExtent(AttentionOp op, AttentionOp::Tensor first,
                               AttentionOp::Tensor second,
                               AttentionOp::Dim dim) {
  for (AttentionOp::Tensor tensor : {first, second}) {
    int64_t size = cast<ShapedType>(op.getTensor(tensor).getType())
                       .getDimSize(op.getOperandDim(tensor, dim));
    if (ShapedType::isStatic(size))
      return size;
  }
  llvm_unreachable("verified: head dims are static");
}

int64_t AttentionOp::getHeadDimQK() {
  return getStaticExtent(*this, Query, KeyTensor, HeadDimQK);
}

int64_t AttentionOp::getHeadDimVO() {
  return getStaticExtent(*this, ValueTensor, Output, HeadDimVO);
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
