//===- ChannelsToNVVM.cpp - Rings of tiles in shared memory ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See ChannelSlot.h for the protocol.
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/ChannelSlot.h"
#include "codegen/ToNVVM/InlineAsm.h"
#include "codegen/ToNVVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::attn_gpu;

namespace {

/// channel -> where its tiles and barriers lie
struct ChannelPattern : ThreadPattern<ChannelOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(ChannelOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    const ChannelPlace &place = kernel.channels.find(op)->second;
    Value tiles =
        LLVM::AddOp::create(b, kernel.sharedBase, createI32(b, place.tiles));
    Value barriers =
        LLVM::AddOp::create(b, kernel.sharedBase, createI32(b, place.barriers));
    replaceByRegisters(rewriter, op, {tiles, barriers});
    return success();
  }
};

/// receive -> wait until full
struct ReceivePattern : ThreadPattern<ReceiveOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(ReceiveOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Slot slot(b, op.getChannel().getType(), adaptor.getChannel(),
              adaptor.getSlot().front());
    emitBarrierWait(b, slot.getFull(), slot.getParity(), kernel.hasTryWait);
    rewriter.replaceOp(op, slot.getTile());
    return success();
  }
};

/// release -> each warp arrives at empty
struct ReleasePattern : ThreadPattern<ReleaseOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(ReleaseOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Slot slot(b, op.getChannel().getType(), adaptor.getChannel(),
              adaptor.getSlot().front());
    // wgmma reads for the whole warp, and its wait returns to the whole warp,
    // so one lane may speak for all without a barrier. Others read for
    // themselves.
    if (kernel.warpsPerWorker != kWarpsPerWarpgroup)
      NVVM::SyncWarpOp::create(b, createI32(b, -1));
    emitBarrierArrive(b, slot.getEmpty(), kernel.isLane0);
    rewriter.eraseOp(op);
    return success();
  }
};

/// subtile -> address + row * bytes of a panel's row
struct SubtilePattern : ThreadPattern<SubtileOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(SubtileOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t rowBytes = op.getSource().getType().getLayout().getSwizzle();
    Value offset = LLVM::MulOp::create(b, adaptor.getRow().front(),
                                       createI32(b, rowBytes));
    rewriter.replaceOpWithNewOp<LLVM::AddOp>(op, adaptor.getSource().front(),
                                             offset);
    return success();
  }
};

/// tma_load -> wait until empty, announce the bytes, one copy per panel
struct TMALoadPattern : ThreadPattern<TMALoadOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(TMALoadOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (!kernel.isSpecialized) {
      auto elected = scf::IfOp::create(b, kernel.isThread0);
      b.setInsertionPointToStart(elected.thenBlock());
    }
    ChannelType type = op.getChannel().getType();
    Slot slot(b, type, adaptor.getChannel(), adaptor.getSlot().front());
    emitBarrierWait(b, slot.getEmpty(), slot.getEmptyParity(),
                    kernel.hasTryWait);
    Value full = toSharedPointer(b, slot.getFull());
    // Elements outside the tensor count: they arrive as zeros.
    NVVM::MBarrierArriveExpectTxOp::create(
        b, /*res=*/Type(), full, createI32(b, getSlotBytes(type)),
        NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
    copyPanels(b, op, adaptor, slot.getTile(), full);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void copyPanels(ImplicitLocOpBuilder &b, TMALoadOp op, Adaptor adaptor,
                         Value tile, Value full) {
    ChannelType type = op.getChannel().getType();
    SharedLayout layout =
        getSharedLayout(type.getLayout(), type.getElementType());
    // The fastest dimension comes first.
    SmallVector<Value> coordinates;
    for (ValueRange coordinate : llvm::reverse(adaptor.getCoordinates()))
      coordinates.push_back(coordinate.front());
    Value firstColumn = coordinates.front();
    int64_t panels = layout.numPanels(type.getShape()[1]);
    for (int64_t panel = 0; panel < panels; ++panel) {
      coordinates.front() = LLVM::AddOp::create(
          b, firstColumn, createI32(b, panel * layout.panelColumns()));
      Value address = LLVM::AddOp::create(
          b, tile, createI32(b, panel * layout.panelBytes()));
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          b, toSharedPointer(b, address), adaptor.getMap().front(), coordinates,
          full,
          /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
          /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
          /*isCTAOnly=*/true, /*group=*/nullptr, /*predicate=*/Value());
    }
  }
};

} // namespace

void mlir::attn_gpu::populateChannelPatterns(
    RewritePatternSet &patterns, const ThreadTypeConverter &converter,
    const Kernel &kernel) {
  patterns.add<ChannelPattern, ReceivePattern, ReleasePattern, SubtilePattern,
               TMALoadPattern>(converter, kernel, patterns.getContext());
}
