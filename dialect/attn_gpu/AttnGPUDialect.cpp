//===- AttnGPUDialect.cpp - Types and attributes of attn_gpu --------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// `64x128xbf16`, as in builtin shaped types.
static ParseResult parseShapeAndType(AsmParser &parser,
                                     SmallVector<int64_t> &shape, Type &type) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
                 parser.parseType(type));
}

static void printShapeAndType(AsmPrinter &printer, ArrayRef<int64_t> shape,
                              Type type) {
  for (int64_t extent : shape)
    printer << extent << 'x';
  printer << type;
}

#include "dialect/attn_gpu/AttnGPUDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/attn_gpu/AttnGPUAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/attn_gpu/AttnGPUTypes.cpp.inc"

void AttnGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/attn_gpu/AttnGPUAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/attn_gpu/AttnGPUTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/attn_gpu/AttnGPUOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

using EmitError = function_ref<InFlightDiagnostic()>;

static LogicalResult verifySwizzle(EmitError emitError, int64_t swizzle) {
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expected a swizzle of 32, 64 or 128 bytes, but got "
                       << swizzle;
  return success();
}

static LogicalResult verifyElement(EmitError emitError, Type type) {
  if (isa<FloatType>(type) &&
      llvm::is_contained({8u, 16u, 32u}, type.getIntOrFloatBitWidth()))
    return success();
  return emitError() << "expected float elements of 8, 16 or 32 bits, but got "
                     << type;
}

static LogicalResult verifyExtents(EmitError emitError,
                                   ArrayRef<int64_t> shape) {
  for (int64_t extent : shape)
    if (extent <= 0)
      return emitError() << "expected positive extents, but got " << extent;
  return success();
}

/// Two dimensions, as of everything that a matmul takes or gives.
static LogicalResult verifyMatrix(EmitError emitError,
                                  ArrayRef<int64_t> shape) {
  if (shape.size() != 2)
    return emitError() << "expected rows and columns, but got " << shape.size()
                       << " extents";
  return verifyExtents(emitError, shape);
}

LogicalResult PanelsAttr::verify(EmitError emitError, int64_t rows,
                                 int64_t swizzle) {
  if (rows <= 0 || rows % 8 != 0)
    return emitError() << "expected rows to be a positive multiple of 8, but "
                          "got "
                       << rows;
  return verifySwizzle(emitError, swizzle);
}

LogicalResult TileType::verify(EmitError emitError, ArrayRef<int64_t> shape,
                               Type elementType, PanelsAttr layout) {
  if (failed(verifyMatrix(emitError, shape)) ||
      failed(verifyElement(emitError, elementType)))
    return failure();
  if (shape[0] > layout.getRows())
    return emitError() << "expected at most the " << layout.getRows()
                       << " rows of the layout, but got " << shape[0];
  return success();
}

LogicalResult ChannelType::verify(EmitError emitError, ArrayRef<int64_t> shape,
                                  Type elementType, int64_t stages,
                                  PanelsAttr layout) {
  if (stages <= 0)
    return emitError() << "expected at least 1 stage, but got " << stages;
  return TileType::verify(emitError, shape, elementType, layout);
}

LogicalResult InflightType::verify(EmitError emitError, ArrayRef<int64_t> shape,
                                   Type elementType) {
  if (!elementType.isF32())
    return emitError() << "expected f32 elements, but got " << elementType;
  return verifyMatrix(emitError, shape);
}

LogicalResult TensorMapType::verify(EmitError emitError, ArrayRef<int64_t> box,
                                    Type elementType, int64_t swizzle) {
  if (box.empty())
    return emitError() << "expected a box of at least 1 extent";
  if (failed(verifyExtents(emitError, box)) ||
      failed(verifyElement(emitError, elementType)) ||
      failed(verifySwizzle(emitError, swizzle)))
    return failure();
  int64_t columns = swizzle * 8 / elementType.getIntOrFloatBitWidth();
  if (box.back() != columns)
    return emitError() << "expected a box of one panel, " << columns
                       << " columns, but got " << box.back();
  return success();
}

/// An error where an attribute of the dialect is not what its name promises.
static LogicalResult expect(bool holds, Operation *op, NamedAttribute attribute,
                            const char *expected) {
  if (holds)
    return success();
  return op->emitOpError() << attribute.getName().getValue() << ": expected "
                           << expected << ", but got " << attribute.getValue();
}

LogicalResult
AttnGPUDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto number = dyn_cast<IntegerAttr>(attribute.getValue());
  if (name != kWarpsPerWorkerAttr && name != kSharedBytesAttr)
    return success();
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError() << name << ": expected a function";
  if (name == kSharedBytesAttr)
    return expect(number && !number.getValue().isNegative(), op, attribute,
                  "a number of bytes");
  return expect(number && number.getValue().isStrictlyPositive(), op, attribute,
                "a positive number of warps");
}

LogicalResult
AttnGPUDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                         NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kFormulaAttr)
    return expect(isa<StringAttr>(attribute.getValue()), op, attribute,
                  "a formula");
  if (name == kMapOfAttr)
    return expect(isa<IntegerAttr>(attribute.getValue()), op, attribute,
                  "the number of an argument");
  return success();
}
