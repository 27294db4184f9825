//===- CpAsyncFaultTest.cpp - cp.async, its groups and its readers --------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FaultTest.h"

using namespace attn::test;

namespace {
class CpAsyncFault : public FaultTest {};
} // namespace

TEST_P(CpAsyncFault, IsCaughtAndTwinPasses) { checkFault(GetParam()); }

// Each thread copies 16 bytes from %d0 to %r0; %r1 is the piece of the thread
// in the next warp, %r2 that of the next lane.
static const std::string places =
    "mul.wide.u32 %d0, %t, 16; add.s64 %d0, %in, %d0;"
    "shl.b32 %r0, %t, 4; add.u32 %r0, %r0, %smem;"
    "xor.b32 %r1, %t, 32; shl.b32 %r1, %r1, 4; add.u32 %r1, %r1, %smem;"
    "xor.b32 %r2, %t, 1; shl.b32 %r2, %r2, 4; add.u32 %r2, %r2, %smem;"
    "mov.u32 %r9, 0; setp.eq.u32 %p8, %lane, 0;";
static const std::string copy = "cp.async.cg.shared.global [%r0], [%d0], 16;";
static const std::string commit = "cp.async.commit_group;";
static const std::string waitAll = "cp.async.wait_group 0;";
static const std::string barrier = "bar.sync 0;";
static const std::string readOwn = "ld.shared.u32 %r3, [%r0];";
static const std::string readWarp = "ld.shared.u32 %r3, [%r1];";
static const std::string readLane = "ld.shared.u32 %r3, [%r2];";
static const std::string readRows =
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r0];";
static const std::string good = places + copy + commit + waitAll + barrier;

// Two stages in turn: 4 tiles of 1 KiB, by two warps that read each other's
// half. $overlap stands between reading a stage and copying into it again.
static const std::string pipeline =
    places +
    "mov.u32 %r10, 0; mov.u32 %r11, 0;" // the tile, and the stage's offset
    + copy + commit +
    "LOOP: xor.b32 %r12, %r11, 1024; add.u32 %r13, %r0, %r12;"
    "add.u32 %r10, %r10, 1; setp.ge.u32 %p0, %r10, 4; @%p0 bra LAST;"
    "mul.wide.u32 %d1, %r10, 1024; add.s64 %d1, %d0, %d1;"
    "cp.async.cg.shared.global [%r13], [%d1], 16; LAST: cp.async.commit_group;"
    "$wait bar.sync 0; add.u32 %r14, %r1, %r11;"
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r14];"
    "$overlap mov.u32 %r11, %r12; setp.lt.u32 %p0, %r10, 4; @%p0 bra LOOP;"
    "cp.async.wait_all;";
static std::string pipelined(const std::string &waiting,
                             const std::string &overlap) {
  return substitute(substitute(pipeline, "$wait", waiting), "$overlap",
                    overlap);
}

static const FaultCase cases[] = {
    // Reading.
    {"ReadBeforeWait", "expected a cp.async.wait_group that covers its group",
     places + copy + commit + readOwn + waitAll,
     places + copy + commit + waitAll + readOwn},
    {"NotCommitted", "expected cp.async.commit_group and a wait for it",
     places + copy + waitAll + readOwn + "cp.async.wait_all;",
     places + copy + "cp.async.wait_all;" + readOwn},
    {"WaitsForTooFew", "expected a cp.async.wait_group that covers its group",
     "cp.async.ca.shared.global [%smem], [%in], 16; cp.async.commit_group;"
     "cp.async.ca.shared.global [%smem+16], [%in], 16; cp.async.commit_group;"
     "cp.async.wait_group 1; ld.shared.u32 %r1, [%smem+16];",
     "cp.async.ca.shared.global [%smem], [%in], 16; cp.async.commit_group;"
     "cp.async.ca.shared.global [%smem+16], [%in], 16; cp.async.commit_group;"
     "cp.async.wait_group 1; ld.shared.u32 %r1, [%smem];"
     "cp.async.wait_group 0;",
     1},
    {"BarrierWithoutWait",
     "expected a cp.async.wait_group that covers its group",
     places + copy + commit + barrier + readRows + waitAll, good + readRows,
     64},
    {"OtherWarpWithoutBarrier", "data race: ",
     places + "st.shared.v4.b32 [%r0], {%r9, %r9, %r9, %r9};" + barrier + copy +
         commit + waitAll + readWarp,
     good + readWarp, 64},
    {"OtherLaneWithoutBarrier", "expected a barrier",
     places + copy + commit + waitAll + readLane,
     places + copy + commit + waitAll + "bar.warp.sync -1;" + readLane},
    {"LdmatrixWithoutBarrier", "expected a barrier",
     places + copy + commit + waitAll + readRows, good + readRows},
    {"OneLaneCommits", "expected cp.async.commit_group and a wait for it",
     places + copy + "@%p8 cp.async.commit_group;" + waitAll + barrier +
         readRows,
     good + readRows},
    {"OneLaneWaits", "expected a cp.async.wait_group that covers its group",
     places + copy + commit + "@%p8 cp.async.wait_group 0;" + barrier +
         readRows,
     good + readRows},
    {"ArrivesBeforeTheCopy", "data race: ",
     places +
         "st.shared.v4.b32 [%r0], {%r9, %r9, %r9, %r9};"
         "add.u32 %r8, %smem, 8192; setp.eq.u32 %p0, %t, 0;"
         "@%p0 mbarrier.init.shared.b64 [%r8], 64; bar.sync 0;"
         "cp.async.mbarrier.arrive.noinc.shared.b64 [%r8];" +
         copy +
         "W: mbarrier.test_wait.parity.shared.b64 %p1, [%r8], 0; @!%p1 bra W;" +
         readWarp,
     places +
         "st.shared.v4.b32 [%r0], {%r9, %r9, %r9, %r9};"
         "add.u32 %r8, %smem, 8192; setp.eq.u32 %p0, %t, 0;"
         "@%p0 mbarrier.init.shared.b64 [%r8], 64; bar.sync 0;" +
         copy +
         "cp.async.mbarrier.arrive.noinc.shared.b64 [%r8];"
         "W: mbarrier.test_wait.parity.shared.b64 %p1, [%r8], 0; @!%p1 bra W;" +
         readWarp,
     64},

    // Stages that are used again.
    {"PipelineWaitsForTooFew", "data race: ldmatrix of shared address",
     pipelined("cp.async.wait_group 2;", barrier),
     pipelined("cp.async.wait_group 1;", barrier), 64},
    {"StageOverwrittenWhileRead",
     "data race: ", pipelined("cp.async.wait_group 1;", ""),
     pipelined("cp.async.wait_group 1;", barrier), 64},
    {"LanesOverwriteWhatTheWarpReads", "data race: cp.async of shared address",
     good + readRows + copy + "cp.async.wait_all;",
     good + readRows + "bar.warp.sync -1;" + copy + "cp.async.wait_all;"},
    {"LaneOverwritesWhatAnotherReads", "data race: cp.async of shared address",
     good + readLane + copy + "cp.async.wait_all;",
     good + readOwn + copy + "cp.async.wait_all;"},

    // Writing beside a copy.
    {"TwoCopiesToOnePlace", "data race: cp.async of shared address",
     places + copy + commit + copy + "cp.async.wait_all;",
     places + copy + commit + waitAll + copy + "cp.async.wait_all;"},
    {"LanesCopyDifferentBytesToOnePlace", "writes different bytes",
     places + "cp.async.cg.shared.global [%smem], [%d0], 16;"
              "cp.async.wait_all;",
     places + "cp.async.cg.shared.global [%smem], [%in], 16;"
              "cp.async.wait_all;"},
    {"StoreIntoACopy", "expected a cp.async.wait_group that covers its group",
     places + copy + commit + "st.shared.u32 [%r0], 1;" + waitAll,
     places + copy + commit + waitAll + "st.shared.u32 [%r0], 1;"},
    {"SourceWrittenBeforeWait", "data race: write of global address",
     places + copy + commit + "st.global.u32 [%d0], 1;" + waitAll,
     places + copy + commit + waitAll + "st.global.u32 [%d0], 1;"},
    {"NobodyWaits", "ended without a wait for the cp.async",
     places + copy + commit, places + copy + commit + waitAll},

    // Addresses and sizes.
    {"Misaligned", "misaligned cp.async",
     "cp.async.ca.shared.global [%smem], [%in+4], 8; cp.async.wait_all;",
     "cp.async.ca.shared.global [%smem], [%in+8], 8; cp.async.wait_all;", 1},
    {"TargetMisaligned", "misaligned cp.async",
     "cp.async.cg.shared.global [%smem+8], [%in], 16; cp.async.wait_all;",
     "cp.async.cg.shared.global [%smem+16], [%in], 16; cp.async.wait_all;", 1},
    {"PastTheTensor", "out-of-bounds cp.async of 16 bytes at global address",
     "mov.u32 %r0, 16; cp.async.cg.shared.global [%smem], [%in+8192], 16, %r0;"
     "cp.async.wait_all;",
     "mov.u32 %r0, 0; cp.async.cg.shared.global [%smem], [%in+8192], 16, %r0;"
     "cp.async.wait_all;",
     1},
    {"PastTheTensorNotIgnored", "out-of-bounds cp.async of 4 bytes",
     "setp.ne.u32 %p0, %t, 0;"
     "cp.async.ca.shared.global [%smem], [%in+8192], 4, %p0;"
     "cp.async.wait_all;",
     "setp.eq.u32 %p0, %t, 0;"
     "cp.async.ca.shared.global [%smem], [%in+8192], 4, %p0;"
     "cp.async.wait_all;",
     1},
    {"PastSharedMemory", "out-of-bounds cp.async of 16 bytes at shared",
     "cp.async.cg.shared.global [%smem+65536], [%in], 16; cp.async.wait_all;",
     "cp.async.cg.shared.global [%smem+65520], [%in], 16; cp.async.wait_all;",
     1},
    {"SourceLargerThanTheCopy", "expected a source size of at most 8",
     "mov.u32 %r0, 16; cp.async.ca.shared.global [%smem], [%in], 8, %r0;"
     "cp.async.wait_all;",
     "mov.u32 %r0, 6; cp.async.ca.shared.global [%smem], [%in], 8, %r0;"
     "cp.async.wait_all;",
     1},
    {"SourceNeverWritten", "which was never written",
     "cp.async.cg.shared.global [%smem], [%out], 16; cp.async.wait_all;",
     "cp.async.cg.shared.global [%smem], [%out], 16, 0; cp.async.wait_all;", 1},
    {"RowMisaligned", "misaligned matrix row: expected a multiple of 16",
     good + "add.u32 %r0, %r0, 8;" + readRows, good + readRows},
    {"RowNeverWritten", "ldmatrix reads shared address",
     good + "add.u32 %r0, %r0, 16;" + readRows, good + readRows},
    {"RowPastSharedMemory", "out-of-bounds matrix row",
     good + "add.u32 %r0, %smem, 65536;" + readRows, good + readRows},
};

INSTANTIATE_TEST_SUITE_P(All, CpAsyncFault, testing::ValuesIn(cases),
                         faultCaseName);
