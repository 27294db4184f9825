//===- TargetInfo.h - What each target can do -------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place for numbers of the hardware. Whoever needs a limit asks here,
// so that a new target is one new row of the table.
//
// Sources, by the names used beside the fields:
//   [CC]   CUDA C++ Programming Guide, Compute Capabilities, table "Technical
//          Specifications per Compute Capability"
//   [PTX]  Parallel Thread Execution ISA, the section of the instruction
//   [TG]   Tuning guide of the architecture
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TARGET_TARGETINFO_H
#define ATTN_CODEGEN_TARGET_TARGETINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mlir::attn {

/// A matrix instruction on 16-bit inputs with f32 accumulators. Where an
/// extent may vary, it runs from its minimum to its maximum in equal steps.
struct MatmulShape {
  int64_t m = 0;
  int64_t minN = 0, maxN = 0, stepN = 0;
  int64_t k = 0;

  bool exists() const { return m != 0; }
  /// Whether one instruction can be `n` columns wide.
  bool allowsN(int64_t n) const {
    return exists() && n >= minN && n <= maxN && n % stepN == 0;
  }
};

/// A machine that people own, to relate a kernel's traffic to its arithmetic.
/// Data sheet values, dense, boost clock; a guide, never a limit.
struct ReferenceMachine {
  llvm::StringLiteral name;
  int64_t multiprocessors;
  /// Of 16-bit matrix instructions with f32 accumulation.
  double teraflops;
  double gigabytesPerSecond;
};

struct TargetInfo {
  /// As in the spec and on the command line, e.g. "sm_90a".
  llvm::StringLiteral name;
  /// [CC] compute capability; 0.0 for the host.
  int major, minor;
  /// [PTX] Release Notes: the ISA version that is emitted, 86 for 8.6. At
  /// least what the architecture was introduced with, and no newer than its
  /// instructions need, so that drivers as old as possible load the result.
  unsigned ptxVersion;

  /// [CC] "Maximum amount of shared memory per thread block", after opting in.
  int64_t sharedBytesPerBlock;
  /// [CC] "Maximum amount of shared memory per multiprocessor".
  int64_t sharedBytesPerMultiprocessor;
  /// [TG] "CUDA reserves 1 KB of shared memory per thread block": counts
  /// against the multiprocessor, not against the block.
  int64_t sharedBytesReserved;
  /// [CC] "Number of 32-bit registers per multiprocessor" and "... per block".
  int64_t registersPerMultiprocessor;
  /// [CC] "Maximum number of 32-bit registers per thread".
  int64_t registersPerThread;
  /// [CC] "Maximum number of threads per block" and "resident threads per SM".
  int64_t threadsPerBlock;
  int64_t threadsPerMultiprocessor;

  /// [PTX] cp.async: sm_80 or higher.
  bool cpAsync;
  /// [PTX] cp.async.bulk.tensor and mbarrier.try_wait: sm_90 or higher.
  bool tma;
  /// [PTX] wgmma.mma_async: sm_90a only.
  bool wgmma;
  /// [PTX] setmaxnreg: architecture-specific, sm_90a and later "a" targets.
  bool setmaxnreg;
  /// [PTX] tcgen05: sm_100a.
  bool tcgen05;
  /// [PTX] mma with .e4m3: sm_89 or higher.
  bool fp8;
  /// [PTX] add, mul and fma with .f32x2: sm_100 or higher.
  bool packedF32;

  /// [PTX] mma.sync.m16n8k16 with .f16 or .bf16.
  MatmulShape mma;
  /// [PTX] wgmma.mma_async .m64nNk16.
  MatmulShape wgmmaShape;
  /// [PTX] setmaxnreg: "in the range 24 to 256, and a multiple of 8".
  int64_t minRegisterBudget, maxRegisterBudget, registerBudgetStep;
  /// [PTX] the widest swizzle of a tensor map, in bytes of a row; 0 where
  /// there are no tensor maps.
  int64_t maxSwizzleBytes;
  /// [PTX] the most elements of a tensor map's box along one dimension.
  int64_t maxBoxExtent;

  ReferenceMachine reference;

  bool isHost() const { return major == 0; }
  /// A warp, and the four of them that issue one wgmma. [CC], [PTX] wgmma.
  static constexpr int64_t threadsPerWarp = 32;
  static constexpr int64_t threadsPerWarpgroup = 128;
  /// [PTX] cp.async.bulk.tensor: global addresses and strides are multiples of
  /// this many bytes; [PTX] cp.async: the widest copy.
  static constexpr int64_t copyAlignment = 16;
};

/// Every target, in the order users see them.
llvm::ArrayRef<TargetInfo> getTargets();

/// Null where there is no target of that name.
const TargetInfo *lookupTarget(llvm::StringRef name);

} // namespace mlir::attn

#endif // ATTN_CODEGEN_TARGET_TARGETINFO_H
