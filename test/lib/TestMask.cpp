//===- TestMask.cpp - A mask that no compiler knows -----------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plugin with a dialect of its own. Neither passes nor tools name it: what
// they know of it is BandMaskInterface.
//
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/ADT/TypeSwitch.h"

#include "test/lib/TestMaskDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "test/lib/TestMaskAttrs.h.inc"

using namespace mlir;
using namespace attn_test;

#include "test/lib/TestMaskDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "test/lib/TestMaskAttrs.cpp.inc"

void TestDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "test/lib/TestMaskAttrs.cpp.inc"
      >();
}

/// A constant of the type of `row`, which may be a vector.
static Value createIndex(OpBuilder &builder, Location loc, Value row,
                         int64_t value) {
  TypedAttr attr = builder.getIndexAttr(value);
  if (auto vector = dyn_cast<VectorType>(row.getType()))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

/// The first position of the group that is `offset` groups from that of `row`.
static Value startOfGroup(OpBuilder &builder, Location loc, Value row,
                          int64_t group, int64_t offset) {
  Value size = createIndex(builder, loc, row, group);
  Value number = arith::DivUIOp::create(builder, loc, row, size);
  Value moved = arith::AddIOp::create(builder, loc, number,
                                      createIndex(builder, loc, row, offset));
  return arith::MulIOp::create(builder, loc, moved, size);
}

Value IntervalAttr::lower(OpBuilder &builder, Location loc,
                          const mlir::attn::MaskPosition &at,
                          ValueRange) const {
  return startOfGroup(builder, loc, at.row, getGroup(), -getBefore());
}

Value IntervalAttr::upper(OpBuilder &builder, Location loc,
                          const mlir::attn::MaskPosition &at,
                          ValueRange) const {
  return startOfGroup(builder, loc, at.row, getGroup(), 1);
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "TestMask", LLVM_VERSION_STRING,
          [](DialectRegistry *registry) { registry->insert<TestDialect>(); }};
}
