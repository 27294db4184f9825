//===- ExpandBands.cpp - attn-expand-bands --------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// %lower, %upper = attn.band rows(%first) ... mask(#mask)
//   ->  the two ends that #mask gives for first + (0, 1, 2, ...)
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::attn {
#define GEN_PASS_DEF_ATTNEXPANDBANDSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::attn

using namespace mlir;
using namespace mlir::attn;

static void expand(BandOp band) {
  OpBuilder builder(band);
  Location loc = band.getLoc();
  VectorType type = band.getLower().getType();
  Value step = vector::StepOp::create(builder, loc, type);
  Value first =
      vector::BroadcastOp::create(builder, loc, type, band.getFirst());
  Value rows = arith::AddIOp::create(builder, loc, step, first);
  Value lower = band.buildLower(builder, rows);
  if (!lower)
    lower = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  band->replaceAllUsesWith(ValueRange{lower, band.buildUpper(builder, rows)});
  band.erase();
}

namespace {

struct AttnExpandBands : attn::impl::AttnExpandBandsPassBase<AttnExpandBands> {
  void runOnOperation() override {
    getOperation()->walk([](BandOp band) { expand(band); });
  }
};

} // namespace
