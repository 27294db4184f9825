//===- TargetInfo.cpp - The table of targets ------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Target/TargetInfo.h"

#include "codegen/Target/TargetNames.h"

#include <iterator>
#include <string_view>

using namespace mlir::attn;

static constexpr int64_t kKiB = 1024;

// [PTX] Matrix Shape of mma: .m16n8k16 for .f16 and .bf16, sm_80 or higher.
static constexpr MatmulShape kMma = {16, 8, 8, 8, 16};
// [PTX] Matrix Shape of wgmma: .m64nNk16, N from 8 to 256 in steps of 8.
static constexpr MatmulShape kWgmma = {64, 8, 256, 8, 16};

/// What all NVIDIA targets since sm_80 share; a row overrides the rest.
static constexpr TargetInfo makeGPU(llvm::StringLiteral name, int major,
                                    int minor, unsigned ptxVersion,
                                    int64_t sharedKiB,
                                    int64_t threadsPerMultiprocessor,
                                    ReferenceMachine reference) {
  return TargetInfo{
      name,
      major,
      minor,
      ptxVersion,
      /*sharedBytesPerBlock=*/(sharedKiB - 1) * kKiB,
      /*sharedBytesPerMultiprocessor=*/sharedKiB * kKiB,
      /*sharedBytesReserved=*/kKiB,
      /*registersPerMultiprocessor=*/64 * kKiB,
      /*registersPerThread=*/255,
      /*threadsPerBlock=*/1024,
      threadsPerMultiprocessor,
      /*cpAsync=*/true,
      /*tma=*/false,
      /*wgmma=*/false,
      /*setmaxnreg=*/false,
      /*tcgen05=*/false,
      /*fp8=*/major * 10 + minor >= 89,
      /*packedF32=*/major >= 10,
      kMma,
      /*wgmmaShape=*/{},
      /*minRegisterBudget=*/0,
      /*maxRegisterBudget=*/0,
      /*registerBudgetStep=*/0,
      /*maxSwizzleBytes=*/0,
      /*maxBoxExtent=*/0,
      reference,
  };
}

/// What sm_90 brought and later targets kept.
static constexpr TargetInfo addTMA(TargetInfo info) {
  info.tma = true;
  info.setmaxnreg = true;
  info.minRegisterBudget = 24;
  info.maxRegisterBudget = 256;
  info.registerBudgetStep = 8;
  info.maxSwizzleBytes = 128;
  info.maxBoxExtent = 256;
  return info;
}

static constexpr TargetInfo makeSM90a() {
  TargetInfo info = addTMA(
      makeGPU("sm_90a", 9, 0, 86, 228, 2048, {"H200 SXM", 132, 989, 4800}));
  info.wgmma = true;
  info.wgmmaShape = kWgmma;
  return info;
}

static constexpr TargetInfo makeSM100a() {
  TargetInfo info = addTMA(
      makeGPU("sm_100a", 10, 0, 86, 228, 2048, {"B200", 148, 2250, 8000}));
  info.tcgen05 = true;
  return info;
}

static constexpr TargetInfo makeHost() {
  TargetInfo info = makeGPU("host", 0, 0, 0, 1, 0, {"", 0, 0, 0});
  info.sharedBytesPerBlock = 0;
  info.sharedBytesPerMultiprocessor = 0;
  info.sharedBytesReserved = 0;
  info.registersPerMultiprocessor = 0;
  info.registersPerThread = 0;
  info.threadsPerBlock = 0;
  info.cpAsync = false;
  info.mma = {};
  return info;
}

// Shared memory per multiprocessor: [CC] 164 KB on 8.0, 100 KB on 8.6, 8.9 and
// 12.0, 228 KB on 9.0 and 10.0; a block may have all but the reserved 1 KB.
static constexpr TargetInfo kTargets[] = {
    makeGPU("sm_80", 8, 0, 78, 164, 2048, {"A100 SXM 80GB", 108, 312, 2039}),
    makeGPU("sm_86", 8, 6, 78, 100, 1536, {"A10", 72, 125, 600}),
    makeGPU("sm_89", 8, 9, 84, 100, 1536, {"L40S", 142, 362, 864}),
    makeSM90a(),
    makeSM100a(),
    addTMA(makeGPU("sm_120a", 12, 0, 87, 100, 1536,
                   {"RTX PRO 6000", 188, 504, 1792})),
    makeHost(),
};

static constexpr bool areTargetsNamed() {
  if (std::size(kTargets) != std::size(kTargetNames))
    return false;
  for (size_t i = 0; i < std::size(kTargets); ++i)
    if (std::string_view(kTargets[i].name.data(), kTargets[i].name.size()) !=
        kTargetNames[i])
      return false;
  return true;
}
static_assert(areTargetsNamed(), "expected the names of TargetNames.h");

llvm::ArrayRef<TargetInfo> mlir::attn::getTargets() { return kTargets; }

const TargetInfo *mlir::attn::lookupTarget(llvm::StringRef name) {
  for (const TargetInfo &target : kTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}
