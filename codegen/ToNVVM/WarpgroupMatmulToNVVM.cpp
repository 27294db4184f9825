//===- WarpgroupMatmulToNVVM.cpp - Matrix products by wgmma ---------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/ToNVVM/InlineAsm.h"
#include "codegen/ToNVVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::attn_gpu;

/// Shapes of wgmma for 16-bit elements (PTX ISA, "Matrix shape").
static constexpr int64_t kRows = 64;
static constexpr int64_t kMaxColumns = 256;
/// Bytes of shared memory that a descriptor can name: its address field has 14
/// bits of 16-byte units.
static constexpr int64_t kDescriptorAddressMask = 0x3ffff;

/// The descriptors by which the k-steps of a tile at `address` are read. All
/// differ by constants, so that the assembler, which wants them in uniform
/// registers in pairs, makes each by one instruction or keeps it over a loop.
static SmallVector<Value> createDescriptors(ImplicitLocOpBuilder &b,
                                            const MatrixDescriptor &descriptor,
                                            const SharedLayout &layout,
                                            Value address, int64_t numSteps) {
  Value masked =
      LLVM::AndOp::create(b, address, createI32(b, kDescriptorAddressMask));
  Value units = LLVM::LShrOp::create(b, masked, createI32(b, 4));
  Value wide = LLVM::ZExtOp::create(b, b.getI64Type(), units);
  Value first = LLVM::OrOp::create(
      b, wide, createI64(b, static_cast<int64_t>(descriptor.fields)));
  SmallVector<Value> result{first};
  for (int64_t step = 1; step < numSteps; ++step) {
    int64_t offset = descriptor.stepOffset(layout, step) >> 4;
    result.push_back(LLVM::AddOp::create(b, first, createI64(b, offset)));
  }
  return result;
}

static SharedLayout getSharedLayout(TileType type) {
  return getSharedLayout(type.getLayout(), type.getElementType());
}

static Value addOffset(ImplicitLocOpBuilder &b, Value address, int64_t offset) {
  return offset == 0 ? address
                     : LLVM::AddOp::create(b, address, createI32(b, offset))
                           .getResult();
}

namespace {

/// mma_async -> one chain of products per 64 rows and per 256 columns, or
/// as many as the schedule says where A is in registers
struct MMAAsyncPattern : ThreadPattern<MMAAsyncOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(MMAAsyncOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = op.getResult().getType().getShape();
    int64_t inner = op.getB().getType().getShape()[op.getTransposeB() ? 1 : 0];
    bool aInRegisters = isa<VectorType>(op.getA().getType());
    if (kernel.warpsPerWorker != kWarpsPerWarpgroup)
      return rewriter.notifyMatchFailure(op, "workers are not warpgroups");
    if (shape[0] % kRows != 0 || shape[1] % 8 != 0)
      return rewriter.notifyMatchFailure(op, "rows or columns do not fit");
    // A tile is padded with zeros up to its panels, registers are not.
    if (inner % kMatmulStep != 0 && (aInRegisters || !op.getTransposeB()))
      return rewriter.notifyMatchFailure(op, "inner dimension does not fit");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Request request{op, adaptor, llvm::divideCeilSigned(inner, kMatmulStep),
                    kernel.keptDescriptors,
                    aInRegisters ? kernel.productColumns : kMaxColumns};
    int64_t slabs = shape[0] / kRows;
    int64_t chunks = llvm::divideCeilSigned(shape[1], request.maxColumns);
    SmallVector<Value> result;
    for (int64_t slab = 0; slab < slabs; ++slab) {
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        bool last = slab + 1 == slabs && chunk + 1 == chunks;
        MatmulChain chain = createChain(b, request, slab, chunk);
        chain.commit = last;
        result.append(emitMatmulChain(b, chain));
      }
    }
    replaceByRegisters(rewriter, op, result);
    return success();
  }

private:
  struct Request {
    MMAAsyncOp op;
    Adaptor adaptor;
    int64_t steps;
    int64_t keptDescriptors;
    int64_t maxColumns;
  };

  /// The chain for rows 64 slab .. and columns maxColumns chunk .. of the
  /// result.
  static MatmulChain createChain(ImplicitLocOpBuilder &b, Request &request,
                                 int64_t slab, int64_t chunk) {
    MMAAsyncOp op = request.op;
    int64_t columns = op.getResult().getType().getShape()[1];
    int64_t firstColumn = chunk * request.maxColumns;
    MatmulChain chain;
    chain.columns = std::min(request.maxColumns, columns - firstColumn);
    chain.elementType = op.getB().getType().getElementType();
    chain.transposeB = !op.getTransposeB();
    chain.aInRegisters = isa<VectorType>(op.getA().getType());
    chain.b = createB(b, request, firstColumn);
    if (auto tile = dyn_cast<TileType>(op.getA().getType())) {
      SharedLayout layout = getSharedLayout(tile);
      Value address = addOffset(b, request.adaptor.getA().front(),
                                slab * kRows * layout.swizzle);
      MatrixDescriptor descriptor = getKMajorDescriptor(layout);
      int64_t kept = std::min(request.steps, request.keptDescriptors);
      chain.a = createDescriptors(b, descriptor, layout, address, kept);
      int64_t last = descriptor.stepOffset(layout, kept - 1);
      for (int64_t step = kept; step < request.steps; ++step)
        chain.aSteps.push_back((descriptor.stepOffset(layout, step) - last) >>
                               4);
    } else {
      int64_t count = 4 * request.steps;
      chain.a =
          llvm::to_vector(request.adaptor.getA().slice(slab * count, count));
    }
    if (!op.getAccumulator() ||
        matchPattern(op.getAccumulator(), m_PosZeroFloat()))
      return chain;
    int64_t first = (slab * columns + firstColumn) / 2;
    chain.accumulator = llvm::to_vector(
        request.adaptor.getAccumulator().slice(first, chain.columns / 2));
    return chain;
  }

  static SmallVector<Value> createB(ImplicitLocOpBuilder &b, Request &request,
                                    int64_t firstColumn) {
    SharedLayout layout = getSharedLayout(request.op.getB().getType());
    Value address = request.adaptor.getB().front();
    if (request.op.getTransposeB())
      return createDescriptors(
          b, getKMajorDescriptor(layout), layout,
          addOffset(b, address, layout.byteOffset(firstColumn, 0)),
          request.steps);
    return createDescriptors(
        b, getMNMajorDescriptor(layout), layout,
        addOffset(b, address, layout.byteOffset(0, firstColumn)),
        request.steps);
  }
};

/// mma_skip -> a wait for everything. A group without products would count for
/// one that is pending, but makes ptxas fence all products of the function.
struct MMASkipPattern : ThreadPattern<MMASkipOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(MMASkipOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    NVVM::WgmmaWaitGroupSyncOp::create(rewriter, op.getLoc(), /*group=*/0);
    replaceByRegisters(rewriter, op, llvm::to_vector(adaptor.getAccumulator()));
    return success();
  }
};

/// mma_wait -> wait that ties the registers
struct MMAWaitPattern : ThreadPattern<MMAWaitOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(MMAWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    replaceByRegisters(rewriter, op,
                       emitMatmulWait(b, op.getPending(), adaptor.getValue()));
    return success();
  }
};

} // namespace

void mlir::attn_gpu::populateWarpgroupMatmulPatterns(
    RewritePatternSet &patterns, const ThreadTypeConverter &converter,
    const Kernel &kernel) {
  patterns.add<MMAAsyncPattern, MMASkipPattern, MMAWaitPattern>(
      converter, kernel, patterns.getContext());
}
