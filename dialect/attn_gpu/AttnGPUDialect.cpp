//===- AttnGPUDialect.cpp - Types and attributes of attn_gpu --------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn_gpu/AttnGPUDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
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

LogicalResult PanelsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t rows, int64_t swizzle) {
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expected a swizzle of 32, 64 or 128 bytes, but got "
                       << swizzle;
  if (rows <= 0 || rows % 8 != 0)
    return emitError() << "expected rows to be a positive multiple of 8, but "
                          "got "
                       << rows;
  return success();
}
