//===- ReadOp.cpp - What an op says of a spec's fields
//---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/BuildOp.h"

#include "codegen/Target/TargetInfo.h"
#include "passes/OpLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using mlir::attn::AttentionOp;

namespace attnc {

namespace {

class OpReader {
public:
  OpReader(OpReading &result, Errors &errors, Errors &unsupported)
      : result(result), op(result.op), spec(result.spec),
        function(op->getParentOfType<func::FuncOp>()), errors(errors),
        unsupported(unsupported) {}

  void read();

private:
  using Dim = AttentionOp::Dim;
  using Tensor = AttentionOp::Tensor;

  void checkFunction();
  void checkArguments();
  std::optional<DType> readType(Value value, const char *name);
  std::optional<Layout> readLayout(AffineMap map);
  void readLayouts();
  std::optional<int64_t> extent(ArrayRef<Tensor> tensors, Dim dim);
  void readSizes();
  void readHeads(ArrayRef<Tensor> querySide, ArrayRef<Tensor> keySide);
  void readMask();
  void readGroups();
  void readWidths();
  void readScale();
  void readTarget();
  void readLaunchValues();

  OpReading &result;
  AttentionOp op;
  Spec &spec;
  func::FuncOp function;
  Errors &errors;
  Errors &unsupported;
};

} // namespace

//===----------------------------------------------------------------------===//
// The function around the op
//===----------------------------------------------------------------------===//

/// A kernel computes the op and nothing else of the function.
void OpReader::checkFunction() {
  auto expect = [&](const std::string &what, const std::string &got) {
    errors.push_back("expected " + what + " in function '" +
                     function.getName().str() + "', but got " + got);
  };
  function.walk([&](Operation *other) {
    if (isa<func::FuncOp, AttentionOp, arith::ConstantOp>(other) ||
        other->getParentOfType<AttentionOp>())
      return;
    auto result = dyn_cast<func::ReturnOp>(other);
    if (!result) {
      expect("nothing beside attn.attention",
             other->getName().getStringRef().str());
      return;
    }
    for (Value value : result.getOperands())
      if (value.getDefiningOp() != op)
        expect("results of attn.attention", "another value");
  });
}

/// A kernel's tensors are passed to it, and it reads inputs again behind its
/// first write.
void OpReader::checkArguments() {
  for (Value out : op.getOuts())
    if (isa<MemRefType>(out.getType()) &&
        llvm::count(op->getOperands(), out) > 1)
      unsupported.push_back("outs: expected memory of their own, but got that "
                            "of another operand");
  for (Value operand : op->getOperands())
    if (isa<ShapedType>(operand.getType()) && !isa<BlockArgument>(operand))
      errors.push_back("expected tensors of attn.attention to be arguments of "
                       "function '" +
                       function.getName().str() + "', but got " +
                       operand.getDefiningOp()->getName().getStringRef().str());
}

//===----------------------------------------------------------------------===//
// Types and layouts
//===----------------------------------------------------------------------===//

std::optional<DType> OpReader::readType(Value value, const char *name) {
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
  unsupported.push_back(std::string(name) + ": element type " +
                        llvm::to_string(type) + " is not implemented yet");
  return std::nullopt;
}

std::optional<Layout> OpReader::readLayout(AffineMap map) {
  auto position = [&](Dim dim) {
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

void OpReader::readLayouts() {
  using A = AttentionOp;
  std::optional<Layout> layout = readLayout(op.getMap(A::Query));
  bool alike = layout.has_value();
  for (Tensor tensor : {A::KeyTensor, A::ValueTensor, A::Output})
    alike = alike && readLayout(op.getMap(tensor)) == layout;
  if (op.getLse())
    alike = alike && op.getOperandDim(A::Lse, A::Batch) == 0 &&
            op.getOperandDim(A::Lse, A::Head) == 1;
  if (!alike) {
    unsupported.push_back("layout: maps other than bshd or bhsd for query, "
                          "key, value and O, with (b, h, m) for LSE, are not "
                          "implemented yet");
    return;
  }
  spec.layout = *layout;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Any tensor may be the one that knows.
std::optional<int64_t> OpReader::extent(ArrayRef<Tensor> tensors, Dim dim) {
  for (Tensor tensor : tensors) {
    if (!op.getMap(tensor).isFunctionOfDim(dim))
      continue;
    int64_t size = cast<ShapedType>(op.getTensor(tensor).getType())
                       .getDimSize(op.getOperandDim(tensor, dim));
    if (ShapedType::isStatic(size))
      return size;
  }
  return std::nullopt;
}

void OpReader::readSizes() {
  SmallVector<Tensor> querySide = {AttentionOp::Query, AttentionOp::Output};
  if (op.getLse())
    querySide.push_back(AttentionOp::Lse);
  SmallVector<Tensor> keySide = {AttentionOp::KeyTensor,
                                 AttentionOp::ValueTensor};
  SmallVector<Tensor> all = querySide;
  llvm::append_range(all, keySide);

  spec.batch = extent(all, AttentionOp::Batch);
  spec.seqlenQ = extent(querySide, AttentionOp::Row);
  spec.seqlenK = extent(keySide, AttentionOp::Key);
  spec.headDimQK = op.getHeadDimQK();
  spec.headDimVO = op.getHeadDimVO();
  readHeads(querySide, keySide);
}

void OpReader::readHeads(ArrayRef<Tensor> querySide, ArrayRef<Tensor> keySide) {
  int64_t group = op.getGroupSize();
  result.pinnedQOHeads = extent(querySide, AttentionOp::Head);
  result.pinnedKVHeads = extent(keySide, AttentionOp::Head);
  // The verifier has seen to the group where both are there.
  if (!result.pinnedKVHeads && result.pinnedQOHeads)
    result.pinnedKVHeads = *result.pinnedQOHeads / group;
  spec.numKVHeads = result.pinnedKVHeads.value_or(1);
  // A product that is too large for 64 bits is too large for a spec.
  if (llvm::MulOverflow(spec.numKVHeads, group, spec.numQOHeads))
    spec.numQOHeads = INT64_MAX;
  if (result.pinnedKVHeads)
    result.pinnedQOHeads = spec.numQOHeads;
}

//===----------------------------------------------------------------------===//
// Attributes and scalars
//===----------------------------------------------------------------------===//

/// Any mask compiles; a spec, and what is derived from one, has names for some.
void OpReader::readMask() {
  auto mask = op.getMaskAttr();
  auto align = [&](MaskKind kind, mlir::attn::Alignment alignment) {
    spec.maskKind = kind;
    spec.maskAlignment = alignment == mlir::attn::Alignment::TopLeft
                             ? Alignment::TopLeft
                             : Alignment::BottomRight;
  };
  if (auto causal = llvm::dyn_cast_if_present<mlir::attn::CausalAttr>(mask))
    align(MaskKind::Causal, causal.getAlignment());
  else if (auto window =
               llvm::dyn_cast_if_present<mlir::attn::WindowAttr>(mask))
    align(MaskKind::Window, window.getAlignment());
  else if (mask)
    result.mask = llvm::to_string(mask);
}

/// Groups of operands and regions that no pass lowers yet.
void OpReader::readGroups() {
  auto refuse = [&](const char *name, bool isThere) {
    if (isThere)
      unsupported.push_back(std::string(name) + " is not implemented yet");
  };
  refuse("score_mod: a region", !op.getScoreMod().empty());
  refuse("mask_mod: a region", !op.getMaskMod().empty());
  refuse("bias: tensor", op.getBias() != nullptr);
  refuse("sinks: a sink per head", op.getSinks() != nullptr);
  refuse("layout: thd", !op.getCuSeqlens().empty());
  refuse("kv.seqused: used lengths", op.getSeqused() != nullptr);
}

/// A width that the module does not say is given by a flag.
void OpReader::readWidths() {
  auto window =
      llvm::dyn_cast_if_present<mlir::attn::WindowAttr>(op.getMaskAttr());
  if (!window)
    return;
  auto widths = op.getMaskOperands();
  auto read = [&](bool isThere, int64_t &width) {
    if (!isThere)
      return;
    IntegerAttr constant;
    width = matchPattern(widths.front(), m_Constant(&constant))
                ? constant.getInt()
                : 0;
    widths = widths.drop_front();
  };
  read(window.getLeft(), spec.windowLeft);
  read(window.getRight(), spec.windowRight);
}

void OpReader::readScale() {
  FloatAttr constant;
  if (Value softcap = op.getSoftcap())
    spec.softcap = matchPattern(softcap, m_Constant(&constant))
                       ? constant.getValueAsDouble()
                       : 1.0;
  if (matchPattern(op.getScale(), m_Constant(&constant)))
    spec.softmaxScale = constant.getValueAsDouble();
  else if (!isa<BlockArgument>(op.getScale()))
    unsupported.push_back("softmax_scale: a scale computed in the function is "
                          "not implemented yet");
}

void OpReader::readTarget() {
  Attribute given = function->getAttr(kTargetAttr);
  if (auto target = dyn_cast_if_present<StringAttr>(given))
    spec.target = target.str();
  else if (given)
    errors.push_back(kTargetAttr.str() + ": expected a string, but got " +
                     llvm::to_string(given));
  else if (auto schedule = op.getScheduleAttr())
    spec.target = schedule.getTarget().str();
  spec.deterministic = !function->hasAttr(kNondeterministicAttr);
}

/// Values that a front end wrote down for the launch.
void OpReader::readLaunchValues() {
  Attribute given = function->getAttr(kLaunchAttr);
  if (!given)
    return;
  auto launch = dyn_cast<DictionaryAttr>(given);
  if (!launch) {
    errors.push_back(kLaunchAttr.str() + ": expected a dictionary, but got " +
                     llvm::to_string(given));
    return;
  }
  bool hasKVHeads = result.pinnedKVHeads.has_value();
  for (NamedAttribute value : launch) {
    StringRef name = value.getName();
    auto integer = dyn_cast<IntegerAttr>(value.getValue());
    if (integer && !integer.getType().isSignlessInteger(64))
      integer = {};
    auto number = dyn_cast<FloatAttr>(value.getValue());
    if (name == "num_kv_heads" && integer) {
      spec.numKVHeads = integer.getInt();
      hasKVHeads = true;
    } else if (name == "num_qo_heads" && integer)
      spec.numQOHeads = integer.getInt();
    else if (name == "softmax_scale" && number)
      spec.softmaxScale = number.getValueAsDouble();
    else if (name == "softcap" && number && op.getSoftcap())
      spec.softcap = number.getValueAsDouble();
    else if (name == "window_left" && integer)
      spec.windowLeft = integer.getInt();
    else if (name == "window_right" && integer)
      spec.windowRight = integer.getInt();
    else
      errors.push_back(kLaunchAttr.str() +
                       ": expected num_qo_heads, num_kv_heads, softmax_scale, "
                       "softcap, window_left or window_right with a number, "
                       "but got '" +
                       name.str() + "'");
  }
  // One count gives the other.
  if (!hasKVHeads && spec.numQOHeads % op.getGroupSize() == 0)
    spec.numKVHeads = spec.numQOHeads / op.getGroupSize();
}

void OpReader::read() {
  checkFunction();
  checkArguments();
  if (auto type = readType(op.getQuery(), "dtype"))
    spec.dtype = *type;
  if (auto type = readType(op.getKey(), "dtype_kv"))
    spec.dtypeKV = *type;
  if (auto type = readType(op.getOutput(), "dtype_o"))
    spec.dtypeO = *type;
  spec.lse = op.getLse() != nullptr;
  readLayouts();
  readSizes();
  readMask();
  readGroups();
  readWidths();
  readScale();
  readTarget();
  readLaunchValues();
  llvm::append_range(unsupported, mlir::attn::listUnservedOperands(
                                      op, mlir::attn::Columns::DenseAtLaunch));
}

OpReading readOp(ModuleOp module, Errors &errors, Errors &unsupported) {
  SmallVector<AttentionOp> ops;
  module.walk([&](AttentionOp op) { ops.push_back(op); });
  if (ops.size() != 1) {
    errors.push_back("expected one attn.attention in the module, but got " +
                     std::to_string(ops.size()));
    return {};
  }
  OpReading result;
  result.op = ops.front();
  if (!result.op->getParentOfType<func::FuncOp>()) {
    errors.push_back("expected attn.attention in a func.func");
    return result;
  }
  OpReader(result, errors, unsupported).read();
  return result;
}

} // namespace attnc
