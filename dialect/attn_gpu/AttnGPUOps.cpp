//===- AttnGPUOps.cpp - Verifiers and types of the attn_gpu ops -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::attn_gpu;

#define GET_OP_CLASSES
#include "dialect/attn_gpu/AttnGPUOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Result types
//===----------------------------------------------------------------------===//

LogicalResult ReceiveOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(cast<ChannelType>(operands[0].getType()).getTileType());
  return success();
}

LogicalResult MMAWaitOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(cast<InflightType>(operands[0].getType()).getVectorType());
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult SpecializeOp::verify() {
  // specialize_c1
  for (int64_t registers : {getProducerRegisters(), getConsumerRegisters()})
    if (registers < 24 || registers > 256 || registers % 8 != 0)
      return emitOpError()
             << "expected registers to be a multiple of 8 from 24 "
                "to 256, but got "
             << registers;
  return success();
}

LogicalResult PartialSumOp::verify() {
  int64_t rows = getSource().getType().getDimSize(0);
  int64_t entries = getResult().getType().getDimSize(0);
  if (entries != rows)
    return emitOpError() << "(C1) expected one entry per row of the source, "
                         << rows << ", but got " << entries;
  return success();
}

LogicalResult ChannelOp::verify() {
  // channel_c1
  if (!isa<FunctionOpInterface>((*this)->getParentOp()))
    return emitOpError() << "expected to be at the top level of a function";
  return success();
}

LogicalResult TMALoadOp::verify() {
  auto map = getMap().getType();
  auto channel = getChannel().getType();
  // tma_load_c1
  if (map.getBox().size() != getCoordinates().size())
    return emitOpError() << "expected one coordinate per dimension of the box, "
                            "but got "
                         << getCoordinates().size() << " for "
                         << map.getBox().size();
  // tma_load_c2
  if (map.getElementType() != channel.getElementType() ||
      map.getSwizzle() != channel.getLayout().getSwizzle())
    return emitOpError() << "expected map and channel to agree on element type "
                            "and swizzle, but got "
                         << map << " and " << channel;
  // tma_load_c3
  int64_t rows = 1;
  for (int64_t extent : map.getBox().drop_back())
    rows *= extent;
  if (rows != channel.getShape()[0])
    return emitOpError() << "expected a box of " << channel.getShape()[0]
                         << " rows, but got " << rows;
  return success();
}

LogicalResult CooperativeLoadOp::verify() {
  auto tensor = cast<MemRefType>(getTensor().getType());
  // cooperative_load_c1
  if (static_cast<int64_t>(getCoordinates().size()) != tensor.getRank())
    return emitOpError() << "expected one coordinate per dimension of the "
                            "tensor, but got "
                         << getCoordinates().size() << " for "
                         << tensor.getRank();
  // cooperative_load_c2
  if (tensor.getElementType() != getChannel().getType().getElementType())
    return emitOpError() << "expected tensor and channel to agree on element "
                            "type, but got "
                         << tensor << " and " << getChannel().getType();
  // cooperative_load_c3
  if (static_cast<int64_t>(getRows()) >= tensor.getRank() - 1 ||
      !tensor.isLastDimUnitStride())
    return emitOpError() << "expected rows along a dimension before the last "
                            "and columns without gaps, but got rows along "
                         << getRows() << " of " << tensor;
  return success();
}

LogicalResult SubtileOp::verify() {
  auto source = getSource().getType();
  auto result = getResult().getType();
  // subtile_c1
  if (source.getElementType() != result.getElementType() ||
      source.getLayout() != result.getLayout() ||
      source.getShape()[1] != result.getShape()[1])
    return emitOpError()
           << "expected source and result to differ in rows only, "
              "but got "
           << source << " and " << result;
  // subtile_c2
  int64_t rows = result.getShape()[0];
  if (rows % 8 != 0 || source.getShape()[0] % rows != 0)
    return emitOpError() << "expected a multiple of 8 rows that divides "
                         << source.getShape()[0] << ", but got " << rows;
  return success();
}

LogicalResult TileValueOp::verify() {
  // tile_value_c1
  TileType tile = getTile().getType();
  VectorType expected = VectorType::get(tile.getShape(), tile.getElementType());
  if (getResult().getType() != expected)
    return emitOpError() << "expected a result of type " << expected
                         << ", but got " << getResult().getType();
  return success();
}

/// Shape and element type of a matmul operand, in either place.
static std::pair<ArrayRef<int64_t>, Type> getOperandShape(Type type) {
  if (auto tile = dyn_cast<TileType>(type))
    return {tile.getShape(), tile.getElementType()};
  auto vector = cast<VectorType>(type);
  return {vector.getShape(), vector.getElementType()};
}

LogicalResult MMAAsyncOp::verify() {
  auto [a, aElement] = getOperandShape(getA().getType());
  auto [b, bElement] = getOperandShape(getB().getType());
  InflightType result = getResult().getType();
  // mma_async_c1
  if (aElement != bElement || !(aElement.isF16() || aElement.isBF16()))
    return emitOpError() << "expected a and b to have one element type, f16 or "
                            "bf16, but got "
                         << aElement << " and " << bElement;
  // mma_async_c2
  int64_t bInner = b[getTransposeB() ? 1 : 0];
  int64_t bOuter = b[getTransposeB() ? 0 : 1];
  if (a[1] != bInner)
    return emitOpError()
           << "expected the inner extents of a and b to match, but "
              "got "
           << a[1] << " and " << bInner;
  // mma_async_c3
  if (result.getShape() != ArrayRef<int64_t>({a[0], bOuter}))
    return emitOpError() << "expected a result of " << a[0] << "x" << bOuter
                         << ", but got " << result;
  // mma_async_c4
  if (getAccumulator() && getAccumulator().getType() != result.getVectorType())
    return emitOpError() << "expected an accumulator of type "
                         << result.getVectorType() << ", but got "
                         << getAccumulator().getType();
  return success();
}

LogicalResult MMASkipOp::verify() {
  // mma_skip_c1
  VectorType expected = getResult().getType().getVectorType();
  if (getAccumulator().getType() != expected)
    return emitOpError() << "expected an accumulator of type " << expected
                         << ", but got " << getAccumulator().getType();
  return success();
}
