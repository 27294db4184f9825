//===- BuildOp.cpp - From a spec to the attention op ----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/BuildOp.h"

#include "tools/attnc/spec/SpecCanonical.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using mlir::attn::AttentionOp;

namespace attnc {

AttentionOp ModuleProblem::getOp() const {
  AttentionOp op;
  module.get().walk([&](AttentionOp found) { op = found; });
  return op;
}

/// A mask that no spec can name stands there as an attribute.
static nlohmann::json withMask(nlohmann::json root, const std::string &mask) {
  if (!mask.empty())
    root["mask"] = {{"kind", "attribute"}, {"attribute", mask}};
  return root;
}

nlohmann::json ModuleProblem::canonical() const {
  return withMask(canonicalSpec(spec), mask);
}

nlohmann::json ModuleProblem::complete() const {
  return withMask(completeSpec(spec), mask);
}

namespace {

/// Builds the function around the op of `problem`.
class ModuleBuilder {
public:
  ModuleBuilder(MLIRContext &context, ModuleProblem &problem)
      : builder(&context), problem(problem), spec(problem.spec) {}

  void build();
  void adopt(AttentionOp op);

private:
  using Dim = AttentionOp::Dim;

  Type elementType(DType type);
  int64_t extent(unsigned dim);
  MemRefType memrefType(AffineMap map, Type element);
  AffineMap indexingMap(ArrayRef<Dim> dims, bool isKeySide);
  SmallVector<Dim> order(Dim rows, Dim columns);
  DictionaryAttr launchValues();
  mlir::attn::BandMaskInterface mask();
  unsigned countWidths() const {
    return (spec.windowLeft >= 0) + (spec.windowRight >= 0);
  }
  ArrayRef<BlockArgument> addFunction(Location loc, TypeRange arguments);

  OpBuilder builder;
  ModuleProblem &problem;
  const Spec &spec;
};

} // namespace

Type ModuleBuilder::elementType(DType type) {
  switch (type) {
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F16:
    return builder.getF16Type();
  case DType::E4M3:
    return Float8E4M3FNType::get(builder.getContext());
  case DType::F32:
    return builder.getF32Type();
  case DType::F64:
    return builder.getF64Type();
  }
  return {};
}

int64_t ModuleBuilder::extent(unsigned dim) {
  switch (dim) {
  case AttentionOp::Batch:
    return spec.batch.value_or(ShapedType::kDynamic);
  case AttentionOp::Row:
    return spec.seqlenQ.value_or(ShapedType::kDynamic);
  case AttentionOp::Key:
    return spec.seqlenK.value_or(ShapedType::kDynamic);
  case AttentionOp::HeadDimQK:
    return spec.headDimQK;
  case AttentionOp::HeadDimVO:
    return spec.headDimVO;
  default:
    // Head counts are given at launch; only their ratio is known.
    return ShapedType::kDynamic;
  }
}

/// Of a tensor that `map` places in the iteration space: any strides, but dense
/// columns. LSE has none.
MemRefType ModuleBuilder::memrefType(AffineMap map, Type element) {
  SmallVector<int64_t> shape;
  for (AffineExpr expr : map.getResults())
    for (unsigned dim = 0; dim < AttentionOp::NumDims; ++dim)
      if (expr.isFunctionOfDim(dim))
        shape.push_back(extent(dim));
  SmallVector<int64_t> strides(shape.size(), ShapedType::kDynamic);
  AffineExpr last = map.getResults().back();
  if (last.isFunctionOfDim(AttentionOp::HeadDimQK) ||
      last.isFunctionOfDim(AttentionOp::HeadDimVO))
    strides.back() = 1;
  return MemRefType::get(shape, element,
                         StridedLayoutAttr::get(builder.getContext(),
                                                ShapedType::kDynamic, strides));
}

AffineMap ModuleBuilder::indexingMap(ArrayRef<Dim> dims, bool isKeySide) {
  SmallVector<AffineExpr> results;
  for (Dim dim : dims) {
    AffineExpr expr = builder.getAffineDimExpr(dim);
    if (dim == AttentionOp::Head && isKeySide && spec.groupSize() != 1)
      expr = expr.floorDiv(spec.groupSize());
    results.push_back(expr);
  }
  return AffineMap::get(AttentionOp::NumDims, 0, results, builder.getContext());
}

SmallVector<AttentionOp::Dim> ModuleBuilder::order(Dim rows, Dim columns) {
  if (spec.layout == Layout::BHSD)
    return {AttentionOp::Batch, AttentionOp::Head, rows, columns};
  return {AttentionOp::Batch, rows, AttentionOp::Head, columns};
}

DictionaryAttr ModuleBuilder::launchValues() {
  SmallVector<NamedAttribute> values;
  values.push_back(builder.getNamedAttr(
      "num_kv_heads", builder.getI64IntegerAttr(spec.numKVHeads)));
  values.push_back(builder.getNamedAttr(
      "num_qo_heads", builder.getI64IntegerAttr(spec.numQOHeads)));
  if (spec.softmaxScale)
    values.push_back(builder.getNamedAttr(
        "softmax_scale", builder.getF64FloatAttr(*spec.softmaxScale)));
  if (spec.softcap)
    values.push_back(builder.getNamedAttr(
        "softcap", builder.getF64FloatAttr(*spec.softcap)));
  for (auto [name, width] : {std::pair("window_left", spec.windowLeft),
                             std::pair("window_right", spec.windowRight)})
    if (width >= 0)
      values.push_back(
          builder.getNamedAttr(name, builder.getI64IntegerAttr(width)));
  return builder.getDictionaryAttr(values);
}

mlir::attn::BandMaskInterface ModuleBuilder::mask() {
  if (spec.maskKind != MaskKind::Causal && spec.maskKind != MaskKind::Window)
    return {};
  // Without an alignment both lengths are pinned to one.
  bool isTopLeft =
      spec.maskAlignment.value_or(Alignment::TopLeft) == Alignment::TopLeft;
  auto alignment = isTopLeft ? mlir::attn::Alignment::TopLeft
                             : mlir::attn::Alignment::BottomRight;
  if (spec.maskKind == MaskKind::Causal)
    return mlir::attn::CausalAttr::get(builder.getContext(), alignment);
  return mlir::attn::WindowAttr::get(builder.getContext(), alignment,
                                     spec.windowLeft >= 0,
                                     spec.windowRight >= 0);
}

/// Leaves the builder at the start of a body that only lacks the op.
ArrayRef<BlockArgument> ModuleBuilder::addFunction(Location loc,
                                                   TypeRange arguments) {
  problem.module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(problem.module->getBody());
  std::string name = kernelName(spec, specHash(problem.canonical()));
  auto function = func::FuncOp::create(builder, loc, name,
                                       builder.getFunctionType(arguments, {}));
  function->setAttr(kTargetAttr, builder.getStringAttr(spec.target));
  function->setAttr(kLaunchAttr, launchValues());
  if (!spec.deterministic)
    function->setAttr(kNondeterministicAttr, builder.getUnitAttr());
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  builder.setInsertionPoint(func::ReturnOp::create(builder, loc));
  return body->getArguments();
}

void ModuleBuilder::build() {
  using A = AttentionOp;
  SmallVector<AffineMap> maps = {
      indexingMap(order(A::Row, A::HeadDimQK), /*isKeySide=*/false),
      indexingMap(order(A::Key, A::HeadDimQK), /*isKeySide=*/true),
      indexingMap(order(A::Key, A::HeadDimVO), /*isKeySide=*/true),
      indexingMap(order(A::Row, A::HeadDimVO), /*isKeySide=*/false)};
  Type inputs = elementType(spec.dtype), keys = elementType(spec.dtypeKV);
  Type softmax = mlir::attn::getSoftmaxType(inputs);
  SmallVector<Type> elements = {inputs, keys, keys, elementType(spec.dtypeO)};
  if (spec.lse) {
    maps.push_back(
        indexingMap({A::Batch, A::Head, A::Row}, /*isKeySide=*/false));
    elements.push_back(softmax);
  }
  SmallVector<Type> types;
  for (auto [map, element] : llvm::zip_equal(maps, elements))
    types.push_back(memrefType(map, element));
  size_t numTensors = types.size();
  types.append(spec.softcap ? 2 : 1, softmax);
  types.append(countWidths(), builder.getIndexType());

  Location loc = builder.getUnknownLoc();
  ValueRange arguments = addFunction(loc, types);
  ValueRange outs = arguments.slice(3, numTensors - 3);
  ValueRange scalars = arguments.drop_front(numTensors);
  AttentionOp::create(
      builder, loc, TypeRange(), arguments[0], arguments[1], arguments[2],
      scalars[0], outs, spec.softcap ? scalars[1] : Value(),
      scalars.take_back(countWidths()), /*bias=*/Value(), /*sinks=*/Value(),
      /*cu_seqlens=*/ValueRange(), /*seqused=*/Value(),
      /*captures=*/ValueRange(), builder.getAffineMapArrayAttr(maps), mask(),
      mlir::attn::ScheduleAttr());
}

/// The map of each operand that has one.
static DenseMap<unsigned, AffineMap> mapsByOperand(AttentionOp op) {
  SmallVector<OpOperand *> operands = {
      &op.getQueryMutable(), &op.getKeyMutable(), &op.getValueMutable()};
  for (OpOperand &out : op.getOutsMutable())
    operands.push_back(&out);
  for (OpOperand &bias : op.getBiasMutable())
    operands.push_back(&bias);
  DenseMap<unsigned, AffineMap> maps;
  for (auto [operand, tensor] : llvm::zip_equal(operands, op.getTensors()))
    maps[operand->getOperandNumber()] = op.getMap(tensor);
  return maps;
}

void ModuleBuilder::adopt(AttentionOp op) {
  DenseMap<unsigned, AffineMap> maps = mapsByOperand(op);
  SmallVector<Type> types;
  SmallVector<unsigned> argumentOf(op->getNumOperands());
  // Tensors first, then scalars.
  for (bool isShaped : {true, false})
    for (OpOperand &operand : op->getOpOperands()) {
      Type type = operand.get().getType();
      if (isa<ShapedType>(type) != isShaped)
        continue;
      if (AffineMap map = maps.lookup(operand.getOperandNumber()))
        type = memrefType(map, getElementTypeOrSelf(type));
      argumentOf[operand.getOperandNumber()] = types.size();
      types.push_back(type);
    }

  ArrayRef<BlockArgument> arguments = addFunction(op.getLoc(), types);
  OperationState state(op.getLoc(), op->getName());
  for (unsigned argument : argumentOf)
    state.operands.push_back(arguments[argument]);
  state.addAttributes(op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *copy = builder.create(state);
  IRMapping mapping;
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions()))
    from.cloneInto(&to, mapping);
}

void buildOp(MLIRContext &context, ModuleProblem &problem) {
  context.loadDialect<mlir::attn::AttnDialect, func::FuncDialect>();
  ModuleBuilder(context, problem).build();
}

void adoptOp(AttentionOp op, ModuleProblem &problem) {
  ModuleBuilder(*op.getContext(), problem).adopt(op);
}

} // namespace attnc
