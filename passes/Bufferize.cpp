//===- Bufferize.cpp - The attention op from tensors to memrefs -----------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Bufferize.h"

#include "dialect/attn/AttnDialect.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::attn;
using namespace mlir::bufferization;

namespace {

/// attention(q, k, v) outs(o) -> r  ==>  attention(q, k, v) outs(o); r is o
struct BufferizeAttention
    : DstBufferizableOpInterfaceExternalModel<BufferizeAttention, AttentionOp> {
  /// What was in O and LSE before is of no interest.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<AttentionOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto attention = cast<AttentionOp>(op);
    OperationState memrefs(op->getLoc(), op->getName());
    SmallVector<Value> results;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (isa<TensorType>(value.getType())) {
        FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
        if (failed(buffer))
          return failure();
        value = *buffer;
      }
      memrefs.operands.push_back(value);
      if (attention.isDpsInit(&operand))
        results.push_back(value);
    }
    memrefs.addAttributes(op->getAttrs());
    for (Region &region : op->getRegions())
      memrefs.addRegion()->takeBody(region);
    rewriter.create(memrefs);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

} // namespace

void mlir::attn::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, AttnDialect *) {
    AttentionOp::attachInterface<BufferizeAttention>(*context);
  });
}
