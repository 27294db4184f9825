//===- AttnDialect.cpp - Registration of the attn dialect -----------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn/AttnTuning.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::attn;

/// `[32, 160]`, which may be empty: the generated list parser wants an element.
static ParseResult parseIntegerList(AsmParser &parser,
                                    SmallVector<int64_t> &list) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(list.emplace_back());
  });
}

static void printIntegerList(AsmPrinter &printer, ArrayRef<int64_t> list) {
  printer << '[';
  llvm::interleaveComma(list, printer);
  printer << ']';
}

#include "dialect/attn/AttnDialect.cpp.inc"
#include "dialect/attn/AttnEnums.cpp.inc"
#include "dialect/attn/AttnInterfaces.cpp.inc"
#include "dialect/attn/AttnOpInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/attn/AttnAttrs.cpp.inc"

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/attn/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/attn/AttnOps.cpp.inc"
      >();
  addOperations<TunedOp>();
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != kScheduleAttr)
    return success();
  // Passes leave what has no schedule alone: a wrong one must not pass for
  // none.
  if (!isa<ScheduleAttr>(attribute.getValue()))
    return op->emitOpError()
           << kScheduleAttr << ": expected an #attn.schedule, but got "
           << attribute.getValue();
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError() << kScheduleAttr << ": expected a function";
  return success();
}
