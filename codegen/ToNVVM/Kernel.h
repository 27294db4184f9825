//===- Kernel.h - What the patterns know about a kernel ---------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TONVVM_KERNEL_H
#define ATTN_CODEGEN_TONVVM_KERNEL_H

#include "codegen/ToNVVM/FragmentLayout.h"

#include "dialect/attn/AttnDialect.h"
#include "dialect/attn_gpu/AttnGPUDialect.h"
#include "dialect/attn_gpu/SharedLayout.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::attn_gpu {

/// Threads of a warp and of a warpgroup (PTX ISA, "Asynchronous Warpgroup Level
/// Matrix Instructions").
inline constexpr int64_t kWarpSize = 32;
inline constexpr int64_t kWarpsPerWarpgroup = 4;
/// Of the inner dimension, what one mma.sync or wgmma takes of 16-bit elements
/// (PTX ISA, "Matrix shape").
inline constexpr int64_t kMatmulStep = 16;
/// What a swizzle of 128 bytes repeats after; TMA and wgmma apply it to the
/// bits of the address, so tiles start at a multiple.
inline constexpr int64_t kTileAlignment = 1024;
/// Bytes of an mbarrier object (PTX ISA, "mbarrier").
inline constexpr int64_t kBarrierBytes = 8;

/// Where a channel lies, in bytes from the start of shared memory.
struct ChannelPlace {
  int64_t tiles;
  int64_t barriers;
};

/// One kernel: facts that hold all over it, and values that every thread forms
/// once at its start. The optimiser drops those that nobody uses.
struct Kernel {
  int64_t warpsPerWorker = 0;
  /// Whether the block splits into producer and consumers.
  bool isSpecialized = false;
  /// Whether the target's barriers put a waiting thread to sleep.
  bool hasTryWait = true;
  /// Whether the copy engine fills a channel.
  bool usesCopyEngine = false;
  /// Threads of a block.
  int64_t numThreads = 0;
  /// From the schedule, which explains them.
  int64_t keptDescriptors = std::numeric_limits<int64_t>::max();
  int64_t productColumns = attn::ScheduleDefaults::productColumns;
  bool spillsIndices = attn::ScheduleDefaults::spillIndices;
  int64_t sharedBytes = 0;
  llvm::MapVector<Operation *, ChannelPlace> channels;

  /// All i32 but the two i1.
  Value thread;
  Value isThread0;
  /// The warpgroup, in a form that the assembler can see to be uniform.
  Value warpgroup;
  /// Of the worker: the first row and first column that this thread holds.
  Value firstRow;
  Value firstColumn;
  Value isLane0;
  Value sharedBase;
};

/// Reads the facts of `function` and gives every channel its place. Reports
/// what a kernel must not be.
FailureOr<Kernel> analyzeKernel(gpu::GPUFuncOp function);

/// Forms the values of `kernel` at the start of `function` and makes the
/// barriers of its channels ready.
void buildPrologue(gpu::GPUFuncOp function, Kernel &kernel);

/// Types of the thread altitude: see FragmentLayout.h and KernelAbi.h. A
/// channel is two i32 (address of its tiles, of its barriers), a tile one.
class ThreadTypeConverter : public TypeConverter {
public:
  explicit ThreadTypeConverter(const Kernel &kernel);

  std::optional<FragmentLayout> getLayout(VectorType type) const {
    return FragmentLayout::get(type, warpsPerWorker);
  }
  /// The type of one register of `layout`.
  Type getRegisterType(VectorType type, const FragmentLayout &layout) const;

private:
  int64_t warpsPerWorker;
};

/// How a tile with this layout lies in shared memory.
SharedLayout getSharedLayout(PanelsAttr layout, Type elementType);
/// Bytes of one slot of a channel.
int64_t getSlotBytes(ChannelType type);

/// An address in shared memory as a pointer.
Value toSharedPointer(ImplicitLocOpBuilder &b, Value address);
/// Whether both conditions hold; a null one always does.
Value emitAnd(ImplicitLocOpBuilder &b, Value x, Value y);
/// A constant of type i32.
Value createI32(ImplicitLocOpBuilder &b, int64_t value);
/// A constant of type i64.
Value createI64(ImplicitLocOpBuilder &b, int64_t value);

} // namespace mlir::attn_gpu

#endif // ATTN_CODEGEN_TONVVM_KERNEL_H
