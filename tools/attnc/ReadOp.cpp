//===- ReadOp.cpp - From the attention op to a spec -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/BuildOp.h"

#include "codegen/Target/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using mlir::attn::AttentionOp;

namespace attnc {

namespace {

class ModuleReader {
public:
  ModuleReader(Errors &errors, Errors &unsupported)
      : errors(errors), unsupported(unsupported) {}

  void read(AttentionOp op);
  void checkNothingElse(func::FuncOp function);

  Spec spec;

private:
  std::optional<DType> readType(Value value, const char *name);
  std::optional<Layout> readLayout(AffineMap map);
  void readLayouts(AttentionOp op);
  void readSizes(AttentionOp op);
  void readMask(AttentionOp op);
  void readScale(AttentionOp op);
  void readAttributes(AttentionOp op);

  Errors &errors;
  Errors &unsupported;
};

} // namespace

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::optional<DType> ModuleReader::readType(Value value, const char *name) {
  Type type = getElementTypeOrSelf(value.getType());
  if (type.isBF16())
    return DType::BF16;
  if (type.isF16())
    return DType::F16;
  if (isa<Float8E4M3FNType>(type))
    return DType::E4M3;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  unsupported.push_back(std::string(name) + ": element type " + print(type) +
                        " is not implemented yet");
  return std::nullopt;
}

std::optional<Layout> ModuleReader::readLayout(AffineMap map) {
  auto position = [&](AttentionOp::Dim dim) {
    for (auto [index, expr] : llvm::enumerate(map.getResults()))
      if (expr.isFunctionOfDim(dim))
        return static_cast<int>(index);
    return -1;
  };
  bool columnsLast = position(AttentionOp::HeadDimQK) == 3 ||
                     position(AttentionOp::HeadDimVO) == 3;
  if (position(AttentionOp::Batch) != 0 || !columnsLast)
    return std::nullopt;
  return position(AttentionOp::Head) == 1 ? Layout::BHSD : Layout::BSHD;
}

void ModuleReader::readLayouts(AttentionOp op) {
  std::optional<Layout> layout = readLayout(op.getQueryMap());
  bool alike = layout.has_value();
  for (AffineMap map : {op.getKeyMap(), op.getValueMap(), op.getOutputMap()})
    alike = alike && readLayout(map) == layout;
  if (op.getLse())
    alike = alike && op.getOperandDim(4, AttentionOp::Batch) == 0 &&
            op.getOperandDim(4, AttentionOp::Head) == 1;
  if (!alike) {
    unsupported.push_back("layout: maps other than bshd or bhsd for query, "
                          "key, value and O, with (b, h, m) for LSE, are not "
                          "implemented yet");
    return;
  }
  spec.layout = *layout;
}

void ModuleReader::readSizes(AttentionOp op) {
  using A = AttentionOp;
  auto extent = [&](unsigned operand, A::Dim dim) -> std::optional<int64_t> {
    auto type = cast<ShapedType>(op->getOperand(operand).getType());
    int64_t size = type.getDimSize(op.getOperandDim(operand, dim));
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    return size;
  };
  // Any operand may be the one that knows; operand 3 is the scale.
  auto either = [&](A::Dim dim, std::initializer_list<unsigned> operands) {
    for (unsigned operand : operands)
      if (std::optional<int64_t> size = extent(operand, dim))
        return size;
    return std::optional<int64_t>();
  };
  spec.batch = either(A::Batch, {0, 1, 2});
  spec.seqlenQ = either(A::Row, {0});
  spec.seqlenK = either(A::Key, {1, 2});
  spec.headDimQK = either(A::HeadDimQK, {0, 1}).value_or(0);
  spec.headDimVO = either(A::HeadDimVO, {2}).value_or(0);

  int64_t group = op.getGroupSize();
  if (std::optional<int64_t> heads = either(A::Head, {1, 2}))
    spec.numKVHeads = *heads;
  else if (std::optional<int64_t> heads = extent(0, A::Head))
    spec.numKVHeads = *heads / group;
  else
    spec.numKVHeads = 1;
  spec.numQOHeads = spec.numKVHeads * group;
}

void ModuleReader::readMask(AttentionOp op) {
  if (!op.getModification().empty())
    unsupported.push_back("score_mod: a region is not implemented yet");
  auto mask = op.getMaskAttr();
  if (!mask)
    return;
  if (auto causal = llvm::dyn_cast<mlir::attn::CausalAttr>(mask)) {
    spec.maskKind = MaskKind::Causal;
    spec.maskAlignment = causal.getAlignment() == mlir::attn::Alignment::TopLeft
                             ? Alignment::TopLeft
                             : Alignment::BottomRight;
    return;
  }
  std::string text;
  llvm::raw_string_ostream(text) << mask;
  unsupported.push_back("mask.kind: " + text + " is not implemented yet");
}

void ModuleReader::readScale(AttentionOp op) {
  FloatAttr constant;
  if (matchPattern(op.getScale(), m_Constant(&constant)))
    spec.softmaxScale = constant.getValueAsDouble();
  else if (!isa<BlockArgument>(op.getScale()))
    unsupported.push_back("softmax_scale: a scale computed in the function is "
                          "not implemented yet");
}

/// Values that a front end wrote down for the launch.
void ModuleReader::readAttributes(AttentionOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (auto target = function->getAttrOfType<StringAttr>(kTargetAttr))
    spec.target = target.str();
  else if (auto schedule = op.getScheduleAttr();
           schedule && mlir::attn::lookupTarget(schedule.getTarget()))
    spec.target = schedule.getTarget().str();
  spec.deterministic = !function->hasAttr(kNondeterministicAttr);
  auto launch = function->getAttrOfType<DictionaryAttr>(kLaunchAttr);
  if (!launch)
    return;
  for (NamedAttribute value : launch) {
    StringRef name = value.getName();
    auto integer = dyn_cast<IntegerAttr>(value.getValue());
    auto number = dyn_cast<FloatAttr>(value.getValue());
    if (name == "num_kv_heads" && integer)
      spec.numKVHeads = integer.getInt();
    else if (name == "num_qo_heads" && integer)
      spec.numQOHeads = integer.getInt();
    else if (name == "softmax_scale" && number)
      spec.softmaxScale = number.getValueAsDouble();
    else
      errors.push_back(kLaunchAttr.str() +
                       ": expected num_qo_heads, num_kv_heads or "
                       "softmax_scale with a number, but got '" +
                       name.str() + "'");
  }
  if (spec.numKVHeads <= 0 ||
      spec.numQOHeads != spec.numKVHeads * op.getGroupSize())
    errors.push_back(
        "num_qo_heads: expected " + std::to_string(op.getGroupSize()) +
        " times num_kv_heads, but got " + std::to_string(spec.numQOHeads) +
        " and " + std::to_string(spec.numKVHeads));
}

void ModuleReader::read(AttentionOp op) {
  if (auto type = readType(op.getQuery(), "dtype"))
    spec.dtype = *type;
  if (auto type = readType(op.getKey(), "dtype_kv"))
    spec.dtypeKV = *type;
  if (auto type = readType(op.getOutput(), "dtype_o"))
    spec.dtypeO = *type;
  spec.lse = op.getLse() != nullptr;
  readLayouts(op);
  readSizes(op);
  readMask(op);
  readScale(op);
  readAttributes(op);
}

/// A kernel computes the op and nothing else of the function.
void ModuleReader::checkNothingElse(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (isa<func::FuncOp, func::ReturnOp, AttentionOp, arith::ConstantOp>(op) ||
        op->getParentOfType<AttentionOp>())
      return;
    errors.push_back("expected nothing beside attn.attention in function '" +
                     function.getName().str() + "', but got " +
                     op->getName().getStringRef().str());
  });
}

ModuleProblem readModule(ModuleOp module, Errors &errors, Errors &unsupported) {
  SmallVector<AttentionOp> ops;
  module.walk([&](AttentionOp op) { ops.push_back(op); });
  if (ops.size() != 1) {
    errors.push_back("expected one attn.attention in the module, but got " +
                     std::to_string(ops.size()));
    return {};
  }
  auto function = ops.front()->getParentOfType<func::FuncOp>();
  if (!function) {
    errors.push_back("expected attn.attention in a func.func");
    return {};
  }
  ModuleReader reader(errors, unsupported);
  reader.checkNothingElse(function);
  reader.read(ops.front());
  return {reader.spec, ops.front().getScheduleAttr()};
}

} // namespace attnc
