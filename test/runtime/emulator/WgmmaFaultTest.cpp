//===- WgmmaFaultTest.cpp - Asynchronous matrix products ------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FaultTest.h"

using namespace attn::test;

namespace {
class WgmmaFault : public FaultTest {};
} // namespace

TEST_P(WgmmaFault, IsCaughtAndTwinPasses) { checkFault(GetParam()); }

// The tile of %in in shared memory, and a descriptor of it in %d40.
static const std::string descriptor =
    "shr.u32 %r100, %smem, 4; cvt.u64.u32 %d40, %r100;"
    "or.b64 %d40, %d40, 0x4000004000010000;";
static const std::string load =
    "setp.eq.u32 %p8, %t, 0; mov.u32 %r190, 0; add.u32 %r191, %smem, 32768;"
    "@!%p8 bra READY; mbarrier.init.shared::cta.b64 [%r191], 1;"
    "fence.mbarrier_init.release.cluster;"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r191], 8192;"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
    "bytes [%smem], [%map, {%r190, %r190}], [%r191]; READY: bar.sync 0;"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r191], 0;"
    "@!%p1 bra WAIT;" +
    descriptor;
// The same by ordinary stores of zeros.
static const std::string fill =
    "mov.u32 %r190, 0; shl.b32 %r0, %t, 6; add.u32 %r0, %r0, %smem;"
    "mov.u32 %r1, 0;"
    "FILL: st.shared.v4.u32 [%r0], {%r190, %r190, %r190, %r190};"
    "add.u32 %r0, %r0, 16; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 4;"
    "@%p0 bra FILL;";

static const std::string fence = "wgmma.fence.sync.aligned;";
static const std::string commit = "wgmma.commit_group.sync.aligned;";
static const std::string waitAll = "wgmma.wait_group.sync.aligned 0;";
static const std::string use = "add.f32 %f200, %f0, %f31;";

/// D (+)= A B^T with both from the tile.
static std::string mma(int accumulate, unsigned n = 64) {
  return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) +
         "k16.f32.f16.f16 " + registerList("%f", 0, n / 2) + ", %d40, %d40, " +
         std::to_string(accumulate) + ", 1, 1, 0, 0;";
}
/// The same with A from %r0 to %r3.
static const std::string mmaRegisters =
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " +
    registerList("%f", 0, 32) + ", {%r0,%r1,%r2,%r3}, %d40, 0, 1, 1, 0;";
static const std::string setA =
    "mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;";

static const std::string good = load + fence + mma(0) + commit + waitAll + use;

static const FaultCase cases[] = {
    {"MissingFirstFence", "missing wgmma.fence: an accumulator",
     load + mma(0) + commit + waitAll + use, good, 128},
    {"AccumulatorReadInFlight", "register %f0 is touched while the wgmma",
     load + fence + mma(0) + commit + use + waitAll, good, 128},
    {"AccumulatorWrittenInFlight", "register %f5 is touched while the wgmma",
     load + fence + mma(0) + commit + "mov.b32 %f5, 0;" + waitAll,
     load + fence + mma(0) + commit + waitAll + "mov.b32 %f5, 0;", 128},
    {"WaitsForTooFewGroups", "no wgmma.wait_group retired its group",
     load + fence + mma(0) + commit + "wgmma.wait_group.sync.aligned 1;" + use +
         waitAll,
     load + fence + mma(0) + commit + commit +
         "wgmma.wait_group.sync.aligned 1;" + use,
     128},
    {"NeverCommitted", "its group is not even committed",
     load + fence + mma(0) + waitAll + use, good, 128},
    {"ARegisterWrittenInFlight", "register %r2 is touched while the wgmma",
     load + setA + fence + mmaRegisters + commit + "mov.u32 %r2, 1;" + waitAll,
     load + setA + fence + mmaRegisters + commit + waitAll + "mov.u32 %r2, 1;",
     128},
    {"ARegisterWrittenAfterFence", "missing wgmma.fence: an A register",
     load + fence + setA + mmaRegisters + commit + waitAll,
     load + setA + fence + mmaRegisters + commit + waitAll, 128},
    {"AccumulatorScaledWithoutFence", "missing wgmma.fence: an accumulator",
     load + fence + mma(0) + commit + waitAll + "mul.f32 %f3, %f3, %f3;" +
         mma(1) + commit + waitAll,
     load + fence + mma(0) + commit + waitAll + "mul.f32 %f3, %f3, %f3;" +
         fence + mma(1) + commit + waitAll,
     128},
    {"AccumulatorOfAnotherShapeInFlight", "with another shape or role",
     load + fence + mma(0) + commit + mma(1, 32) + commit + waitAll,
     load + fence + mma(0) + commit + mma(1) + commit + waitAll, 128},
    {"GenericWriteWithoutProxyFence", "expected fence.proxy.async",
     fill + "bar.sync 0;" + descriptor + fence + mma(0) + commit + waitAll,
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + descriptor + fence +
         mma(0) + commit + waitAll,
     128},
    {"GenericWriteWithoutBarrier", "wgmma",
     fill + "fence.proxy.async.shared::cta;" + descriptor + fence + mma(0) +
         commit + waitAll,
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + descriptor + fence +
         mma(0) + commit + waitAll,
     128},
    {"OperandOverwrittenInFlight", "data race: write of shared address",
     load + fence + mma(0) + commit + "@%p8 st.shared.u32 [%smem], 0;" +
         waitAll,
     load + fence + mma(0) + commit + waitAll +
         "bar.sync 0; @%p8 st.shared.u32 [%smem], 0;",
     128},
    {"OperandNeverWritten", "wgmma reads shared address",
     load + "add.s64 %d40, %d40, 1024;" + fence + mma(0) + commit + waitAll,
     load + "add.s64 %d40, %d40, 2;" + fence + mma(0) + commit + waitAll, 128},
    {"OperandOutOfBounds", "out-of-bounds read by wgmma",
     load + "add.s64 %d40, %d40, 4096;" + fence + mma(0) + commit + waitAll,
     good, 128},
    {"DescriptorMisaligned", "misaligned descriptor",
     load + "add.s64 %d40, %d40, 8;" + fence + mma(0) + commit + waitAll,
     load + "add.s64 %d40, %d40, 6;" + fence + mma(0) + commit + waitAll, 128},
    {"DescriptorsDiffer", "expected the same B descriptor in all lanes",
     load +
         "cvt.u64.u32 %d1, %lane; add.s64 %d40, %d40, %d1;"
         "mov.b64 %d41, %d40;" +
         substitute(fence + mma(0) + commit + waitAll, "%d40, %d40",
                    "%d40, %d41"),
     load + "mov.b64 %d41, %d40;" +
         substitute(fence + mma(0) + commit + waitAll, "%d40, %d40",
                    "%d40, %d41"),
     128},
    {"OneWarpIsMissing", "waits for the rest of its warpgroup",
     load + "setp.eq.u32 %p2, %warp, 3; @%p2 bra DONE;" + fence + mma(0) +
         commit + waitAll + "DONE: ret;",
     load + "setp.eq.u32 %p2, %warp, 4; @%p2 bra DONE;" + fence + mma(0) +
         commit + waitAll + "DONE: ret;",
     128},
    {"DivergedWarp", "collective instruction in a diverged warp",
     load + "setp.eq.u32 %p2, %lane, 3; @%p2 bra DONE;" + fence + mma(0) +
         commit + waitAll + "DONE: ret;",
     good, 128},
    {"WarpsAtDifferentWgmmas", "execute different wgmmas",
     load + "setp.eq.u32 %p2, %warp, 3;" + fence + "@%p2 bra OTHER;" + mma(0) +
         commit + waitAll + "ret; OTHER:" + mma(0) + commit + waitAll,
     good, 128},
    {"EndsInFlight", "ends while a wgmma is in flight",
     load + fence + mma(0) + commit, good, 128},
    {"RegisterBudget", "register use beyond the budget",
     load + "setmaxnreg.dec.sync.aligned.u32 24;" + fence + mma(1) + commit +
         waitAll,
     load + "setmaxnreg.dec.sync.aligned.u32 48;" + fence + mma(1) + commit +
         waitAll,
     128},
};

INSTANTIATE_TEST_SUITE_P(All, WgmmaFault, testing::ValuesIn(cases),
                         faultCaseName);
