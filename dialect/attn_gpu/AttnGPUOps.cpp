//===- AttnGPUOps.cpp - Verifiers and types of the attn_gpu ops -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/IR/Builders.h"

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
  for (int64_t registers : {getProducerRegisters(), getConsumerRegisters()})
    if (registers < 24 || registers > 256 || registers % 8 != 0)
      return emitOpError()
             << "expected registers to be a multiple of 8 from 24 "
                "to 256, but got "
             << registers;
  if (getNumConsumers() < 1)
    return emitOpError() << "expected at least 1 consumer, but got "
                         << getNumConsumers();
  return success();
}

LogicalResult TMALoadOp::verify() {
  auto map = getMap().getType();
  auto channel = getChannel().getType();
  if (map.getBox().size() != getCoordinates().size())
    return emitOpError() << "expected one coordinate per dimension of the box, "
                            "but got "
                         << getCoordinates().size() << " for "
                         << map.getBox().size();
  if (map.getElementType() != channel.getElementType() ||
      map.getSwizzle() != channel.getLayout().getSwizzle())
    return emitOpError() << "expected map and channel to agree on element type "
                            "and swizzle, but got "
                         << map << " and " << channel;
  int64_t rows = 1;
  for (int64_t extent : map.getBox().drop_back())
    rows *= extent;
  if (rows != channel.getShape()[0])
    return emitOpError() << "expected a box of " << channel.getShape()[0]
                         << " rows, but got " << rows;
  return success();
}

LogicalResult SubtileOp::verify() {
  auto source = getSource().getType();
  auto result = getResult().getType();
  if (source.getElementType() != result.getElementType() ||
      source.getLayout() != result.getLayout() ||
      source.getShape()[1] != result.getShape()[1])
    return emitOpError()
           << "expected source and result to differ in rows only, "
              "but got "
           << source << " and " << result;
  int64_t rows = result.getShape()[0];
  if (rows % 8 != 0 || source.getShape()[0] % rows != 0)
    return emitOpError() << "expected a multiple of 8 rows that divides "
                         << source.getShape()[0] << ", but got " << rows;
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
  if (aElement != bElement)
    return emitOpError()
           << "expected a and b to have one element type, but got " << aElement
           << " and " << bElement;
  int64_t bInner = b[getTransposeB() ? 1 : 0];
  int64_t bOuter = b[getTransposeB() ? 0 : 1];
  if (a[1] != bInner)
    return emitOpError()
           << "expected the inner extents of a and b to match, but "
              "got "
           << a[1] << " and " << bInner;
  if (result.getShape() != ArrayRef<int64_t>({a[0], bOuter}))
    return emitOpError() << "expected a result of " << a[0] << "x" << bOuter
                         << ", but got " << result;
  if (getAccumulator() && getAccumulator().getType() != result.getVectorType())
    return emitOpError() << "expected an accumulator of type "
                         << result.getVectorType() << ", but got "
                         << getAccumulator().getType();
  return success();
}
