//===- RolesToNVVM.cpp - Who does what in a block -------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn_gpu;

namespace {

/// specialize { P } consumers { C } ->
///   if warpgroup == 0 { give registers; if thread == 0 { P } }
///   else { take registers; C }
struct SpecializePattern : ThreadPattern<SpecializeOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(SpecializeOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value isProducer = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq,
                                            kernel.warpgroup, createI32(b, 0));
    auto roles = scf::IfOp::create(b, isProducer, /*withElseRegion=*/true);

    b.setInsertionPointToStart(roles.thenBlock());
    // The whole warpgroup gives its registers up, so before the branch.
    NVVM::SetMaxRegisterOp::create(b, op.getProducerRegisters(),
                                   NVVM::SetMaxRegisterAction::decrease);
    auto elected = scf::IfOp::create(b, kernel.isThread0);
    moveRole(op.getProducer(), elected.thenBlock(), rewriter);

    b.setInsertionPointToStart(roles.elseBlock());
    NVVM::SetMaxRegisterOp::create(b, op.getConsumerRegisters(),
                                   NVVM::SetMaxRegisterAction::increase);
    moveRole(op.getConsumer(), roles.elseBlock(), rewriter);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Moves the ops of a role to the end of `block`, before its terminator.
  static void moveRole(Region &role, Block *block,
                       ConversionPatternRewriter &rewriter) {
    Block &body = role.front();
    rewriter.eraseOp(body.getTerminator());
    rewriter.inlineBlockBefore(&body, block->getTerminator());
  }
};

/// worker_id -> warpgroup - 1, or warp / warps per worker
struct WorkerIdPattern : ThreadPattern<WorkerIdOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(WorkerIdOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (kernel.isSpecialized) {
      rewriter.replaceOpWithNewOp<LLVM::SubOp>(op, kernel.warpgroup,
                                               createI32(b, 1));
      return success();
    }
    int64_t threads = kernel.warpsPerWorker * kWarpSize;
    Value worker =
        LLVM::UDivOp::create(b, kernel.thread, createI32(b, threads));
    // Equal over the warp anyhow; this way the assembler knows.
    rewriter.replaceOpWithNewOp<NVVM::ShflOp>(
        op, b.getI32Type(), createI32(b, -1), worker, createI32(b, 0),
        createI32(b, kWarpSize - 1), NVVM::ShflKind::idx, UnitAttr());
    return success();
  }
};

/// warp_any -> vote.sync.any of the thread's own rows
struct WarpAnyPattern : ThreadPattern<WarpAnyOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(WarpAnyOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ValueRange rows = adaptor.getCondition();
    Value any = rows.front();
    for (Value row : rows.drop_front())
      any = LLVM::OrOp::create(b, any, row);
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(
        op, b.getI1Type(), createI32(b, -1), any, NVVM::VoteSyncKind::any);
    return success();
  }
};

/// warp_barrier -> bar.warp.sync
struct WarpBarrierPattern : ThreadPattern<WarpBarrierOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(WarpBarrierOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    NVVM::SyncWarpOp::create(b, createI32(b, -1));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::attn_gpu::populateRolePatterns(RewritePatternSet &patterns,
                                          const ThreadTypeConverter &converter,
                                          const Kernel &kernel) {
  patterns.add<SpecializePattern, WorkerIdPattern, WarpAnyPattern,
               WarpBarrierPattern>(converter, kernel, patterns.getContext());
}
