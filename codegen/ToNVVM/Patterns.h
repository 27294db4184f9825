//===- Patterns.h - Families of lowering patterns ---------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_PATTERNS_H
#define ATTN_CODEGEN_TONVVM_PATTERNS_H

#include "codegen/ToNVVM/Kernel.h"

namespace mlir::attn_gpu {

/// A pattern that sees each operand as the registers that a thread holds of it.
template <typename OpTy>
class ThreadPattern : public OpConversionPattern<OpTy> {
public:
  using Adaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;

  ThreadPattern(const ThreadTypeConverter &converter, const Kernel &kernel,
                MLIRContext *context)
      : OpConversionPattern<OpTy>(converter, context), kernel(kernel) {}

  LogicalResult
  matchAndRewrite(OpTy op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override = 0;

protected:
  const ThreadTypeConverter &getConverter() const {
    return static_cast<const ThreadTypeConverter &>(*this->typeConverter);
  }

  const Kernel &kernel;
};

/// Replaces the only result of `op` by the registers a thread holds of it.
inline void replaceByRegisters(ConversionPatternRewriter &rewriter,
                               Operation *op, ArrayRef<Value> registers) {
  rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>{registers});
}

/// The kernel itself, its return, and its coordinates in the grid.
void populateFunctionPatterns(RewritePatternSet &patterns,
                              const ThreadTypeConverter &converter,
                              const Kernel &kernel);
/// `attn_gpu.specialize`, `worker_id`, `warp_any`.
void populateRolePatterns(RewritePatternSet &patterns,
                          const ThreadTypeConverter &converter,
                          const Kernel &kernel);
/// Channels, and the copies that fill them.
void populateChannelPatterns(RewritePatternSet &patterns,
                             const ThreadTypeConverter &converter,
                             const Kernel &kernel);
/// Copies into channels by all threads of the block.
void populateCooperativeLoadPatterns(RewritePatternSet &patterns,
                                     const ThreadTypeConverter &converter,
                                     const Kernel &kernel);
/// Matrix products of workers of one warp, by `mma.sync`.
void populateWarpMatmulPatterns(RewritePatternSet &patterns,
                                const ThreadTypeConverter &converter,
                                const Kernel &kernel);
/// Matrix products of workers that are warpgroups, by `wgmma`.
void populateWarpgroupMatmulPatterns(RewritePatternSet &patterns,
                                     const ThreadTypeConverter &converter,
                                     const Kernel &kernel);
/// Arithmetic that each element does alone: arith and math.
void populateElementwisePatterns(RewritePatternSet &patterns,
                                 const ThreadTypeConverter &converter,
                                 const Kernel &kernel);
/// Constants and conversions between 16 and 32 bits, where the number of
/// registers differs from the number of elements.
void populateFragmentPatterns(RewritePatternSet &patterns,
                              const ThreadTypeConverter &converter,
                              const Kernel &kernel);
/// Broadcasts, coordinates, masks, and reductions along rows.
void populateVectorPatterns(RewritePatternSet &patterns,
                            const ThreadTypeConverter &converter,
                            const Kernel &kernel);
/// Reads and writes of global memory.
void populateTransferPatterns(RewritePatternSet &patterns,
                              const ThreadTypeConverter &converter,
                              const Kernel &kernel);

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_PATTERNS_H
