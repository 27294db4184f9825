//===- OpLimits.cpp - What no schedule makes possible ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/OpLimits.h"

#include "dialect/attn/Limits.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::attn;

namespace {

/// A tensor of the op by the name that users know.
struct Tensor {
  const char *name;
  Value value;
  AttentionOp::Tensor map;
};

} // namespace

static SmallVector<Tensor> getTensors(AttentionOp op) {
  SmallVector<Tensor> tensors = {{"q", op.getQuery(), AttentionOp::Query},
                                 {"k", op.getKey(), AttentionOp::KeyTensor},
                                 {"v", op.getValue(), AttentionOp::ValueTensor},
                                 {"o", op.getOutput(), AttentionOp::Output}};
  if (op.getLse())
    tensors.push_back({"lse", op.getLse(), AttentionOp::Lse});
  return tensors;
}

static bool isHeadDim(int64_t size) {
  return size >= kHeadDimStep && size <= kMaxHeadDim &&
         size % kHeadDimStep == 0;
}

static void checkHeadDims(AttentionOp op, std::vector<std::string> &reasons) {
  if (op.getHeadDimQK() == kLatentHeadDimQK &&
      op.getHeadDimVO() == kLatentHeadDimVO)
    return;
  for (auto [name, size] : {std::pair("head_dim_qk", op.getHeadDimQK()),
                            std::pair("head_dim_vo", op.getHeadDimVO())})
    if (!isHeadDim(size))
      reasons.push_back(std::string(name) + ": expected a multiple of " +
                        std::to_string(kHeadDimStep) + " from " +
                        std::to_string(kHeadDimStep) + " to " +
                        std::to_string(kMaxHeadDim) + ", but got " +
                        std::to_string(size));
}

std::vector<std::string> mlir::attn::listInvalidValues(AttentionOp op) {
  std::vector<std::string> reasons;
  checkHeadDims(op, reasons);
  for (const Tensor &tensor : getTensors(op)) {
    auto type = cast<ShapedType>(tensor.value.getType());
    unsigned heads = op.getOperandDim(tensor.map, AttentionOp::Head);
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      int64_t minimum = dim == heads ? 1 : 0;
      if (ShapedType::isStatic(size) && (size < minimum || size > kMaxExtent))
        reasons.push_back(
            std::string(tensor.name) + ": expected an extent from " +
            std::to_string(minimum) + " to " + std::to_string(kMaxExtent) +
            " of dimension " + std::to_string(dim) + ", but got " +
            std::to_string(size));
    }
  }
  FloatAttr scale;
  if (matchPattern(op.getScale(), m_Constant(&scale)) &&
      !isScale(scale.getValueAsDouble()))
    reasons.push_back("softmax_scale: expected a finite number greater than 0, "
                      "but got " +
                      llvm::to_string(scale));
  return reasons;
}

std::vector<std::string> mlir::attn::listUnservedTypes(AttentionOp op,
                                                       bool isHost) {
  Type input = getElementTypeOrSelf(op.getQuery());
  Type output = getElementTypeOrSelf(op.getOutput());
  auto isHalf = [](Type type) { return type.isBF16() || type.isF16(); };
  auto isWide = [](Type type) { return type.isF32() || type.isF64(); };
  std::vector<std::string> reasons;
  if (!isHalf(input) && !(isHost && isWide(input)))
    reasons.push_back("dtype: " + llvm::to_string(input) +
                      " is not implemented yet");
  // LLVM would round f64 to 16 bits by a call of the compiler's library.
  bool isServed = isHost ? isWide(output) || (isHalf(output) && !input.isF64())
                         : output == input;
  if (reasons.empty() && !isServed)
    reasons.push_back("dtype_o: " + llvm::to_string(output) + " with dtype " +
                      llvm::to_string(input) + " is not implemented yet");
  return reasons;
}

/// Whether the dimension that a tensor's columns run along has these strides.
static bool areColumnsFine(int64_t stride, int64_t size, Columns columns) {
  if (columns == Columns::Strided || stride == 1 || size == 1)
    return true;
  return columns == Columns::DenseAtLaunch && ShapedType::isDynamic(stride);
}

/// Why generated code cannot address memory of this type; empty if it can.
static std::string checkMemory(MemRefType type, std::optional<unsigned> column,
                               Columns columns) {
  if (type.getMemorySpace())
    return "expected memory of the default space, but got " +
           llvm::to_string(type.getMemorySpace());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return "expected a layout of strides, but got " +
           llvm::to_string(type.getLayout());
  for (int64_t stride : strides)
    if (ShapedType::isStatic(stride) && stride < 0)
      return "expected strides of at least 0, but got " +
             std::to_string(stride);
  if (column &&
      !areColumnsFine(strides[*column], type.getDimSize(*column), columns))
    return "expected columns without gaps, but got " + llvm::to_string(type);
  return {};
}

/// The dimension that columns run along; LSE has none.
static std::optional<unsigned> getColumn(AttentionOp op,
                                         AttentionOp::Tensor map) {
  for (AttentionOp::Dim dim : {AttentionOp::HeadDimQK, AttentionOp::HeadDimVO})
    if (op.getMap(map).isFunctionOfDim(dim))
      return op.getOperandDim(map, dim);
  return std::nullopt;
}

std::vector<std::string> mlir::attn::listUnservedOperands(AttentionOp op,
                                                          Columns columns) {
  std::vector<std::string> reasons;
  for (const Tensor &tensor : getTensors(op)) {
    std::string reason;
    if (auto type = dyn_cast<MemRefType>(tensor.value.getType()))
      reason = checkMemory(type, getColumn(op, tensor.map), columns);
    else if (auto type = dyn_cast<RankedTensorType>(tensor.value.getType());
             type && type.getEncoding())
      reason = "expected a tensor without encoding, but got " +
               llvm::to_string(type.getEncoding());
    if (!reason.empty())
      reasons.push_back(std::string(tensor.name) + ": " + reason);
  }
  return reasons;
}
