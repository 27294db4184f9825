//===- AttnVerifiers.cpp - What the attn ops demand -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnDialect.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// The iteration dims of one tensor, and its name in messages.
struct TensorSpec {
  StringRef name;
  SmallVector<unsigned, 4> dims;
  bool grouped = false;
  /// Whether the tensor may be the same along any dim but the keys.
  bool broadcasts = false;
};

} // namespace

static TensorSpec getSpec(AttentionOp::Tensor tensor) {
  using A = AttentionOp;
  switch (tensor) {
  case A::Query:
    return {"query", {A::Batch, A::Head, A::Row, A::HeadDimQK}};
  case A::KeyTensor:
    return {"key", {A::Batch, A::Head, A::Key, A::HeadDimQK}, true};
  case A::ValueTensor:
    return {"value", {A::Batch, A::Head, A::Key, A::HeadDimVO}, true};
  case A::Output:
    return {"output", {A::Batch, A::Head, A::Row, A::HeadDimVO}};
  case A::Lse:
    return {"lse", {A::Batch, A::Head, A::Row}};
  case A::Bias:
    return {"bias", {A::Batch, A::Head, A::Row, A::Key}, false, true};
  }
  llvm_unreachable("no other tensor has a map");
}

/// The dim that a map result indexes; `group` becomes the divisor of
/// `h floordiv g`. Nothing for any other expression.
static std::optional<unsigned> matchDim(AffineExpr expr, int64_t &group) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!dim || !divisor || dim.getPosition() != AttentionOp::Head ||
      divisor.getValue() <= 0)
    return std::nullopt;
  group = divisor.getValue();
  return dim.getPosition();
}

/// Whether `found`, in order, are the dims of the tensor, each once.
static bool areDimsOf(const TensorSpec &spec, ArrayRef<unsigned> found) {
  if (!spec.broadcasts)
    return found == ArrayRef<unsigned>(spec.dims);
  return llvm::is_contained(found, AttentionOp::Key) &&
         std::adjacent_find(found.begin(), found.end()) == found.end() &&
         llvm::all_of(found, [&](unsigned dim) {
           return llvm::is_contained(spec.dims, dim);
         });
}

/// Checks C3 and C4 for one tensor and finds its group size.
static LogicalResult verifyMap(AttentionOp op, AttentionOp::Tensor tensor,
                               int64_t &group) {
  TensorSpec spec = getSpec(tensor);
  AffineMap map = op.getMap(tensor);
  auto type = cast<ShapedType>(op.getTensor(tensor).getType());
  // attention_c3
  if (map.getNumDims() != AttentionOp::NumDims || map.getNumSymbols() != 0)
    return op.emitOpError() << "expected the map of " << spec.name
                            << " to have 6 dims and no symbols, but got "
                            << AffineMapAttr::get(map);
  if (!type.hasRank() || map.getNumResults() != type.getRank())
    return op.emitOpError()
           << "expected the map of " << spec.name << " to have "
           << (type.hasRank() ? type.getRank() : 0) << " results, but got "
           << map.getNumResults();
  // attention_c4
  SmallVector<unsigned> found;
  group = 1;
  for (AffineExpr expr : map.getResults()) {
    if (spec.broadcasts && expr == getAffineConstantExpr(0, op.getContext()))
      continue;
    std::optional<unsigned> dim = matchDim(expr, group);
    if (!dim)
      return op.emitOpError()
             << "expected a dim or 'head floordiv constant' in "
                "the map of "
             << spec.name << ", but got " << AffineMapAttr::get(map);
    found.push_back(*dim);
  }
  SmallVector<unsigned> sorted(found);
  llvm::sort(sorted);
  if (!areDimsOf(spec, sorted))
    return op.emitOpError() << "expected the map of " << spec.name
                            << " to use each of its dims once, but got "
                            << AffineMapAttr::get(map);
  if (group != 1 && !spec.grouped)
    return op.emitOpError()
           << "expected no grouped heads in the map of " << spec.name
           << ", but got " << AffineMapAttr::get(map);
  return success();
}

/// Checks C6: `extents` collects the static extent of each iteration dim.
static LogicalResult verifyExtents(AttentionOp op, AttentionOp::Tensor tensor,
                                   MutableArrayRef<int64_t> extents) {
  TensorSpec spec = getSpec(tensor);
  auto type = cast<ShapedType>(op.getTensor(tensor).getType());
  for (unsigned dim : spec.dims) {
    if (!op.getMap(tensor).isFunctionOfDim(dim))
      continue;
    int64_t size = type.getDimSize(
        op.getOperandDim(tensor, static_cast<AttentionOp::Dim>(dim)));
    if (ShapedType::isDynamic(size))
      continue;
    if (dim == AttentionOp::Head && spec.grouped &&
        llvm::MulOverflow(size, op.getGroupSize(), size))
      return op.emitOpError() << "expected fewer query heads than 2^63, but "
                                 "got groups of "
                              << op.getGroupSize() << " in " << spec.name;
    if (extents[dim] != ShapedType::kDynamic && extents[dim] != size)
      return op.emitOpError()
             << "expected extent " << extents[dim] << " of dim " << dim
             << " in " << spec.name << ", but got " << size;
    extents[dim] = size;
  }
  return success();
}

/// Checks C7 and C8's element types.
static LogicalResult verifyElements(AttentionOp op) {
  // attention_c7
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  for (Value value : {op.getKey(), op.getValue()})
    if (getElementTypeOrSelf(value.getType()) != element)
      return op.emitOpError() << "expected element type " << element
                              << " of query, key and value, but got "
                              << getElementTypeOrSelf(value.getType());
  for (Type type : {element, getElementTypeOrSelf(op.getOutput().getType())})
    if (!isa<FloatType>(type))
      return op.emitOpError()
             << "expected a float element type, but got " << type;
  // attention_c8
  Type softmax = op.getScale().getType();
  if (op.getLse() && getElementTypeOrSelf(op.getLse().getType()) != softmax)
    return op.emitOpError() << "expected an " << softmax << " lse, but got "
                            << getElementTypeOrSelf(op.getLse().getType());
  return success();
}

/// Checks C1, for every operand with a shape.
static LogicalResult verifyShaped(AttentionOp op) {
  bool onTensors = isa<TensorType>(op.getQuery().getType());
  for (Value value : op->getOperands()) {
    if (!isa<ShapedType>(value.getType()))
      continue;
    // attention_c1
    if (isa<TensorType>(value.getType()) != onTensors ||
        isa<VectorType>(value.getType()))
      return op.emitOpError() << "expected all operands to be tensors or all "
                                 "to be memrefs, but got "
                              << value.getType();
  }
  return success();
}

/// Checks C12 and C13: what stands beside the tensors with maps.
static LogicalResult verifyGroups(AttentionOp op) {
  // attention_c12
  if (BandMaskInterface mask = op.getMaskAttr()) {
    if (failed(mask.verifyOperands([&] { return op.emitOpError(); },
                                   op.getMaskOperands().getTypes())))
      return failure();
  } else if (!op.getMaskOperands().empty()) {
    return op.emitOpError() << "expected no operands without a mask, but got "
                            << op.getMaskOperands().size();
  }
  // attention_c13
  if (op.getSoftcap() && op.getSoftcap().getType() != op.getScale().getType())
    return op.emitOpError()
           << "expected a softcap of type " << op.getScale().getType()
           << ", but got " << op.getSoftcap().getType();
  Builder builder(op.getContext());
  auto verifyVector = [&](StringRef name, Value value, Type element) {
    auto type = cast<ShapedType>(value.getType());
    if (type.hasRank() && type.getRank() == 1 &&
        type.getElementType() == element)
      return success();
    return LogicalResult(op.emitOpError()
                         << "expected " << name << " to be one dimension of "
                         << element << ", but got " << type);
  };
  if (op.getSinks() &&
      failed(verifyVector("sinks", op.getSinks(), builder.getF32Type())))
    return failure();
  if (op.getSeqused() &&
      failed(verifyVector("seqused", op.getSeqused(), builder.getI32Type())))
    return failure();
  if (!op.getCuSeqlens().empty() && op.getCuSeqlens().size() != 2)
    return op.emitOpError() << "expected cu_seqlens of queries and keys, but "
                               "got "
                            << op.getCuSeqlens().size();
  for (Value starts : op.getCuSeqlens())
    if (failed(verifyVector("cu_seqlens", starts, builder.getI32Type())))
      return failure();
  return success();
}

/// Checks C4 to C6 and C11, which need all maps.
static LogicalResult verifyTensors(AttentionOp op) {
  SmallVector<int64_t> extents(AttentionOp::NumDims, ShapedType::kDynamic);
  llvm::SmallDenseMap<unsigned, int64_t> groups;
  for (AttentionOp::Tensor tensor : op.getTensors())
    if (failed(verifyMap(op, tensor, groups[tensor])))
      return failure();
  // attention_c5
  int64_t group = groups[AttentionOp::KeyTensor];
  if (group != groups[AttentionOp::ValueTensor])
    return op.emitOpError()
           << "expected key and value to group heads alike, but got " << group
           << " and " << groups[AttentionOp::ValueTensor];
  // attention_c6
  for (AttentionOp::Tensor tensor : op.getTensors())
    if (failed(verifyExtents(op, tensor, extents)))
      return failure();
  int64_t heads = extents[AttentionOp::Head];
  if (heads != ShapedType::kDynamic && heads % group != 0)
    return op.emitOpError() << "expected groups of " << group
                            << " to divide the query heads, but got " << heads;
  // attention_c11
  for (AttentionOp::Dim dim : {AttentionOp::HeadDimQK, AttentionOp::HeadDimVO})
    if (extents[dim] == 0 || ShapedType::isDynamic(extents[dim]))
      return op.emitOpError() << "expected static and positive head dims";
  return success();
}

LogicalResult AttentionOp::verify() {
  // attention_c8
  if (getOuts().empty() || getOuts().size() > 2)
    return emitOpError() << "expected 1 or 2 outs, but got "
                         << getOuts().size();
  // attention_c2
  if (getIndexingMaps().size() != getTensors().size())
    return emitOpError() << "expected " << getTensors().size()
                         << " maps, but got " << getIndexingMaps().size();
  if (failed(verifyShaped(*this)) || failed(verifyTensors(*this)) ||
      failed(verifyElements(*this)) || failed(verifyGroups(*this)))
    return failure();
  // attention_c9
  SmallVector<Type> expected;
  if (isa<TensorType>(getQuery().getType()))
    llvm::append_range(expected, getOuts().getTypes());
  if (TypeRange(expected) != getResultTypes())
    return emitOpError() << "expected " << expected.size()
                         << " results with the types of the outs";
  return success();
}

/// Checks C10 for one region.
static LogicalResult verifyRegion(AttentionOp op, Region &region,
                                  StringRef name, Type score, Type yielded) {
  if (region.empty())
    return success();
  SmallVector<Type> expected;
  if (score)
    expected.push_back(score);
  expected.append(4, IndexType::get(op.getContext()));
  llvm::append_range(expected, op.getCaptures().getTypes());
  if (!region.hasOneBlock() ||
      TypeRange(expected) != region.front().getArgumentTypes())
    return op.emitOpError()
           << "expected a " << name << " of one block with arguments ("
           << ArrayRef<Type>(expected) << ")";
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield || yield.getOperandTypes() != TypeRange(yielded))
    return op.emitOpError()
           << "expected the " << name << " to yield an " << yielded;
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  // attention_c10
  Builder builder(getContext());
  Type softmax = getScale().getType();
  if (failed(verifyRegion(*this, getScoreMod(), "score_mod", softmax, softmax)))
    return failure();
  return verifyRegion(*this, getMaskMod(), "mask_mod", Type(),
                      builder.getI1Type());
}
