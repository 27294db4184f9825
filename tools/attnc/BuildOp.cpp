//===- BuildOp.cpp - From a spec to the attention op ----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/BuildOp.h"

#include "tools/attnc/SpecCanonical.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using mlir::attn::AttentionOp;

namespace attnc {

namespace {

/// One tensor: its element type, and the dims of the iteration space that its
/// dimensions stand for, in memory order.
struct Operand {
  Type element;
  SmallVector<AttentionOp::Dim> dims;
  bool keySide;
};

class ModuleBuilder {
public:
  ModuleBuilder(MLIRContext &context, const Spec &spec)
      : builder(&context), spec(spec) {}

  OwningOpRef<ModuleOp> build(mlir::attn::ScheduleAttr schedule);

private:
  Type elementType(DType type);
  int64_t extent(const Operand &operand, AttentionOp::Dim dim);
  MemRefType memrefType(const Operand &operand);
  AffineMapAttr indexingMap(const Operand &operand);
  SmallVector<AttentionOp::Dim> order(AttentionOp::Dim rows,
                                      AttentionOp::Dim columns);
  SmallVector<Operand> operands();
  DictionaryAttr launchValues();
  Attribute mask();

  OpBuilder builder;
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

int64_t ModuleBuilder::extent(const Operand &operand, AttentionOp::Dim dim) {
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

MemRefType ModuleBuilder::memrefType(const Operand &operand) {
  SmallVector<int64_t> shape,
      strides(operand.dims.size(), ShapedType::kDynamic);
  for (AttentionOp::Dim dim : operand.dims)
    shape.push_back(extent(operand, dim));
  // Columns are dense; LSE has none.
  if (operand.dims.back() != AttentionOp::Row)
    strides.back() = 1;
  return MemRefType::get(shape, operand.element,
                         StridedLayoutAttr::get(builder.getContext(),
                                                ShapedType::kDynamic, strides));
}

AffineMapAttr ModuleBuilder::indexingMap(const Operand &operand) {
  SmallVector<AffineExpr> results;
  for (AttentionOp::Dim dim : operand.dims) {
    AffineExpr expr = builder.getAffineDimExpr(dim);
    if (dim == AttentionOp::Head && operand.keySide && spec.groupSize() != 1)
      expr = expr.floorDiv(spec.groupSize());
    results.push_back(expr);
  }
  return AffineMapAttr::get(
      AffineMap::get(AttentionOp::NumDims, 0, results, builder.getContext()));
}

SmallVector<AttentionOp::Dim> ModuleBuilder::order(AttentionOp::Dim rows,
                                                   AttentionOp::Dim columns) {
  if (spec.layout == Layout::BHSD)
    return {AttentionOp::Batch, AttentionOp::Head, rows, columns};
  return {AttentionOp::Batch, rows, AttentionOp::Head, columns};
}

SmallVector<Operand> ModuleBuilder::operands() {
  using A = AttentionOp;
  Type inputs = elementType(spec.dtype), keys = elementType(spec.dtypeKV);
  SmallVector<Operand> all = {
      {inputs, order(A::Row, A::HeadDimQK), false},
      {keys, order(A::Key, A::HeadDimQK), true},
      {keys, order(A::Key, A::HeadDimVO), true},
      {elementType(spec.dtypeO), order(A::Row, A::HeadDimVO), false}};
  if (spec.lse)
    all.push_back({mlir::attn::getSoftmaxType(inputs),
                   {A::Batch, A::Head, A::Row},
                   false});
  return all;
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
  return builder.getDictionaryAttr(values);
}

Attribute ModuleBuilder::mask() {
  if (spec.maskKind != MaskKind::Causal)
    return {};
  return mlir::attn::CausalAttr::get(builder.getContext(),
                                     *spec.maskAlignment == Alignment::TopLeft
                                         ? mlir::attn::Alignment::TopLeft
                                         : mlir::attn::Alignment::BottomRight);
}

OwningOpRef<ModuleOp> ModuleBuilder::build(mlir::attn::ScheduleAttr schedule) {
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());

  SmallVector<Type> types;
  SmallVector<Attribute> maps;
  for (const Operand &operand : operands()) {
    types.push_back(memrefType(operand));
    maps.push_back(indexingMap(operand));
  }
  types.push_back(mlir::attn::getSoftmaxType(elementType(spec.dtype)));

  std::string name = kernelName(spec, specHash(canonicalSpec(spec)));
  auto function = func::FuncOp::create(builder, loc, name,
                                       builder.getFunctionType(types, {}));
  function->setAttr(kTargetAttr, builder.getStringAttr(spec.target));
  function->setAttr(kLaunchAttr, launchValues());
  if (!spec.deterministic)
    function->setAttr(kNondeterministicAttr, builder.getUnitAttr());

  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  ArrayRef<BlockArgument> arguments = body->getArguments();
  SmallVector<Value> outs(arguments.begin() + 3, arguments.end() - 1);
  AttentionOp::create(
      builder, loc, TypeRange(), arguments[0], arguments[1], arguments[2],
      arguments.back(), outs, builder.getArrayAttr(maps),
      llvm::cast_if_present<mlir::attn::BandMaskInterface>(mask()), schedule);
  func::ReturnOp::create(builder, loc);
  return module;
}

OwningOpRef<ModuleOp> buildModule(MLIRContext &context, const Spec &spec,
                                  mlir::attn::ScheduleAttr schedule) {
  context.loadDialect<mlir::attn::AttnDialect, func::FuncDialect>();
  return ModuleBuilder(context, spec).build(schedule);
}

} // namespace attnc
