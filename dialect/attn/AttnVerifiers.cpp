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

/// The iteration dims of one operand, and its name in messages.
struct OperandSpec {
  StringRef name;
  SmallVector<unsigned, 4> dims;
  bool grouped;
};

} // namespace

static OperandSpec getOperandSpec(unsigned operand) {
  using A = AttentionOp;
  switch (operand) {
  case 0:
    return {"query", {A::Batch, A::Head, A::Row, A::HeadDimQK}, false};
  case 1:
    return {"key", {A::Batch, A::Head, A::Key, A::HeadDimQK}, true};
  case 2:
    return {"value", {A::Batch, A::Head, A::Key, A::HeadDimVO}, true};
  case 3:
    return {"output", {A::Batch, A::Head, A::Row, A::HeadDimVO}, false};
  default:
    return {"lse", {A::Batch, A::Head, A::Row}, false};
  }
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

/// Checks C3 and C4 for one operand and finds its group size.
static LogicalResult verifyMap(AttentionOp op, unsigned operand,
                               ShapedType type, int64_t &group) {
  OperandSpec spec = getOperandSpec(operand);
  AffineMap map = op.getMap(operand);
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
  if (ArrayRef<unsigned>(sorted) != ArrayRef<unsigned>(spec.dims))
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
static LogicalResult verifyExtents(AttentionOp op, unsigned operand,
                                   ShapedType type,
                                   MutableArrayRef<int64_t> extents) {
  OperandSpec spec = getOperandSpec(operand);
  for (unsigned dim : spec.dims) {
    int64_t size = type.getDimSize(
        op.getOperandDim(operand, static_cast<AttentionOp::Dim>(dim)));
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

LogicalResult AttentionOp::verify() {
  SmallVector<Value> shaped = {getQuery(), getKey(), getValue()};
  llvm::append_range(shaped, getOuts());
  // attention_c8
  if (getOuts().empty() || getOuts().size() > 2)
    return emitOpError() << "expected 1 or 2 outs, but got "
                         << getOuts().size();
  // attention_c2
  if (getIndexingMaps().size() != shaped.size())
    return emitOpError() << "expected " << shaped.size() << " maps, but got "
                         << getIndexingMaps().size();
  // attention_c1
  bool onTensors = isa<TensorType>(getQuery().getType());
  for (Value value : shaped)
    if (isa<TensorType>(value.getType()) != onTensors ||
        isa<VectorType>(value.getType()))
      return emitOpError()
             << "expected all operands to be tensors or all to be "
                "memrefs, but got "
             << value.getType();

  SmallVector<int64_t> extents(NumDims, ShapedType::kDynamic);
  SmallVector<int64_t> groups;
  for (auto [operand, value] : llvm::enumerate(shaped)) {
    auto type = cast<ShapedType>(value.getType());
    if (failed(verifyMap(*this, operand, type, groups.emplace_back())))
      return failure();
  }
  // attention_c5
  if (groups[1] != groups[2])
    return emitOpError() << "expected key and value to group heads alike, but "
                            "got "
                         << groups[1] << " and " << groups[2];
  // attention_c6
  for (auto [operand, value] : llvm::enumerate(shaped))
    if (failed(verifyExtents(*this, operand, cast<ShapedType>(value.getType()),
                             extents)))
      return failure();
  if (extents[Head] != ShapedType::kDynamic && extents[Head] % groups[1] != 0)
    return emitOpError() << "expected groups of " << groups[1]
                         << " to divide the query heads, but got "
                         << extents[Head];
  // attention_c11
  for (Dim dim : {HeadDimQK, HeadDimVO})
    if (extents[dim] == 0 || ShapedType::isDynamic(extents[dim]))
      return emitOpError() << "expected static and positive head dims";
  if (failed(verifyElements(*this)))
    return failure();
  // attention_c9
  SmallVector<Type> expected;
  if (onTensors)
    llvm::append_range(expected, getOuts().getTypes());
  if (TypeRange(expected) != getResultTypes())
    return emitOpError() << "expected " << expected.size()
                         << " results with the types of the outs";
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  Region &region = getModification();
  if (region.empty())
    return success();
  // attention_c10
  Builder builder(getContext());
  SmallVector<Type> expected(5, builder.getIndexType());
  expected[0] = builder.getF32Type();
  if (!region.hasOneBlock() ||
      TypeRange(expected) != region.front().getArgumentTypes())
    return emitOpError() << "expected a modification of one block with "
                            "arguments (f32, index, index, index, index)";
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (!yield || !yield.getValue().getType().isF32())
    return emitOpError() << "expected the modification to yield an f32";
  return success();
}

LogicalResult MaskBandOp::verify() {
  // mask_band_c1
  int64_t rows = getScores().getType().getDimSize(0);
  int64_t bounds = getLower().getType().getDimSize(0);
  if (rows != bounds)
    return emitOpError() << "expected one bound per row of scores, but got "
                         << bounds << " bounds for " << rows << " rows";
  return success();
}
