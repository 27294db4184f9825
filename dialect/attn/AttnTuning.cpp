//===- AttnTuning.cpp - What a row of a table of schedules demands --------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/attn/AttnTuning.h"

using namespace mlir;
using namespace mlir::attn;

static LogicalResult verifyRange(TunedOp op, StringRef name, int64_t first,
                                 int64_t last) {
  if (first <= 0 || last < first)
    return op.emitOpError() << "expected " << name
                            << " to be a range of positive numbers, but got "
                            << first << " to " << last;
  return success();
}

LogicalResult TunedOp::verify() {
  // tuned_c1
  StringRef target = getSchedule().getTarget();
  if (llvm::none_of(getTargets().getAsValueRange<StringAttr>(),
                    [&](StringRef name) { return name == target; }))
    return emitOpError() << "expected targets to name " << target
                         << ", as the schedule does, but got " << getTargets();
  // tuned_c2
  if (failed(verifyRange(*this, "head_dims", getMinHeadDim(), getMaxHeadDim())))
    return failure();
  if (getMinSeqlenK().has_value() != getMaxSeqlenK().has_value())
    return emitOpError() << "expected seqlen_k to have two ends, but got one";
  if (getMinSeqlenK() && failed(verifyRange(*this, "seqlen_k", *getMinSeqlenK(),
                                            *getMaxSeqlenK())))
    return failure();
  // tuned_c3
  if (getBlocks() <= 0)
    return emitOpError() << "expected blocks to be positive, but got "
                         << getBlocks();
  // tuned_c4
  if (getReason().empty())
    return emitOpError() << "expected a reason, but got an empty one";
  return success();
}

#define GET_OP_CLASSES
#include "dialect/attn/AttnTuning.cpp.inc"
