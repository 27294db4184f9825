//===- LaneFaultTest.cpp - What one lane publishes and learns -------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes are threads. An arrival by one of them says nothing of the others, and
// neither does its wait tell them anything, unless the warp synchronised.
//
//===----------------------------------------------------------------------===//

#include "FaultTest.h"

using namespace attn::test;

namespace {
class LaneFault : public FaultTest {};
} // namespace

TEST_P(LaneFault, IsCaughtAndTwinPasses) { checkFault(GetParam()); }

// Each thread has a word at %r0 and its neighbour's at %r1, all of them zero;
// %r2 is that of lane 5 of warp 1. The mbarrier at %r9 expects $count arrivals.
// %p0 holds in warp 0, %p8 in the first lane of each warp.
static std::string setUp(unsigned count) {
  return "shl.b32 %r0, %t, 2; add.u32 %r0, %r0, %smem;"
         "xor.b32 %r1, %t, 1; shl.b32 %r1, %r1, 2; add.u32 %r1, %r1, %smem;"
         "add.u32 %r2, %smem, 148; add.u32 %r9, %smem, 8192;"
         "setp.eq.u32 %p0, %warp, 0; setp.eq.u32 %p8, %lane, 0;"
         "setp.eq.u32 %p9, %t, 0; st.shared.u32 [%r0], 0;"
         "@%p9 mbarrier.init.shared::cta.b64 [%r9], " +
         std::to_string(count) + "; bar.sync 0;";
}

static const std::string waitPhase =
    "W: mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r9], 0; @!%p1 bra W;";
static const std::string arrive =
    "@%p8 mbarrier.arrive.shared::cta.b64 _, [%r9];";
static const std::string arriveAll =
    "mbarrier.arrive.shared::cta.b64 _, [%r9];";
static const std::string syncWarp = "bar.warp.sync -1;";
static const std::string storeOwn = "st.shared.u32 [%r0], %t;";
static const std::string readLane5 = "ld.shared.u32 %r3, [%r2];";

/// Warp 1 does `first`, warp 0 waits and does `second`.
static std::string handOver(unsigned count, const std::string &first,
                            const std::string &second) {
  return setUp(count) + "@%p0 bra W;" + first + "ret;" + waitPhase + second;
}

/// The same through the word at %smem, which is zero at first.
static std::string byFlag(const std::string &first, const std::string &raise,
                          const std::string &look, const std::string &second) {
  return setUp(1) +
         "setp.eq.u32 %p2, %lane, 0; add.u32 %r8, %smem, 4096;"
         "@%p9 st.shared.u32 [%r8], 0; bar.sync 0; @%p0 bra LOOK;" +
         first + raise + "ret; LOOK:" + look + second;
}

static const std::string raiseFlag =
    "@%p8 atom.release.cta.shared.exch.b32 %r4, [%r8], 1;";
static const std::string lookAll =
    "LL: ld.acquire.cta.shared.u32 %r4, [%r8]; setp.eq.u32 %p3, %r4, 0;"
    "@%p3 bra LL;";
static const std::string lookOne =
    "@!%p2 bra SEEN; LL: ld.acquire.cta.shared.u32 %r4, [%r8];"
    "setp.eq.u32 %p3, %r4, 0; @%p3 bra LL; SEEN:";

// Each thread copies 16 bytes from %d0 to %r5; %r6 is the piece of the other
// warp's thread.
static const std::string copy =
    "mul.wide.u32 %d0, %t, 16; add.s64 %d0, %in, %d0;"
    "shl.b32 %r5, %t, 4; add.u32 %r5, %r5, %smem; add.u32 %r5, %r5, 1024;"
    "xor.b32 %r6, %t, 32; shl.b32 %r6, %r6, 4; add.u32 %r6, %r6, %smem;"
    "add.u32 %r6, %r6, 1024; cp.async.cg.shared.global [%r5], [%d0], 16;";
static const std::string readOther = "ld.shared.u32 %r3, [%r6];";
static const std::string noinc =
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];";
static const std::string waitCopies = "cp.async.wait_all;";
static const std::string readOtherRows =
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r6];";

// Each thread fills 64 bytes, and one stores them all by TMA.
static const std::string fill =
    "setp.eq.u32 %p7, %t, 0; mov.u32 %r20, 0; shl.b32 %r21, %t, 8;"
    "add.u32 %r21, %r21, %smem; mov.u32 %r22, 0;"
    "FILL: st.shared.v4.u32 [%r21], {%r20, %r20, %r20, %r20};"
    "add.u32 %r21, %r21, 16; add.u32 %r22, %r22, 1;"
    "setp.lt.u32 %p6, %r22, 16; @%p6 bra FILL;"
    "fence.proxy.async.shared::cta;";
static const std::string storeTile =
    "@%p7 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
    "[%omap, {%r20, %r20}], [%smem]; @%p7 cp.async.bulk.commit_group;"
    "@%p7 cp.async.bulk.wait_group.read 0;";

static const FaultCase cases[] = {
    // What an arrival publishes.
    {"ArrivesForTheWritesOfOthers", "expected bar.warp.sync before",
     handOver(1, storeOwn + arrive, readLane5),
     handOver(1, storeOwn + syncWarp + arrive, readLane5), 64},
    {"ArrivesForItsOwnWrite", "expected bar.warp.sync before",
     handOver(1, storeOwn + arrive, readLane5),
     handOver(1, storeOwn + arrive, "ld.shared.u32 %r3, [%smem+128];"), 64},
    {"ArrivesForAllButOneLane", "expected bar.warp.sync before",
     handOver(31, storeOwn + "setp.ne.u32 %p3, %lane, 5; @%p3 " + arriveAll,
              readLane5),
     handOver(32, storeOwn + arriveAll, readLane5), 64},
    {"ArrivesForTheReadsOfOthers", "expected bar.warp.sync before",
     handOver(1, readLane5 + "ld.shared.u32 %r3, [%r1];" + arrive,
              "@%p8 st.shared.u32 [%r2], 1;"),
     handOver(1, "ld.shared.u32 %r3, [%r1];" + syncWarp + arrive,
              "@%p8 st.shared.u32 [%r2], 1;"),
     64},
    {"ArrivesForAMatrixOfTheWarp", "expected bar.warp.sync before",
     handOver(1,
              "add.u32 %r7, %smem, 128;"
              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r7];" +
                  arrive,
              "@%p8 st.shared.u32 [%smem+128], 1;"),
     handOver(1,
              "add.u32 %r7, %smem, 128;"
              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r7];" +
                  syncWarp + arrive,
              "@%p8 st.shared.u32 [%smem+128], 1;"),
     64},
    {"ArrivesAfterAShuffle", "expected bar.warp.sync before",
     handOver(1,
              storeOwn +
                  "shfl.sync.bfly.b32 %r4, %t, 1, 31, -1;"
                  "vote.sync.any.pred %p3, %p8, -1;" +
                  arrive,
              readLane5),
     handOver(1,
              storeOwn + "shfl.sync.bfly.b32 %r4, %t, 1, 31, -1;" + syncWarp +
                  arrive,
              readLane5),
     64},
    {"ArrivesAfterHalfTheWarpMet", "expected bar.warp.sync before",
     handOver(1,
              storeOwn +
                  "setp.ge.u32 %p3, %lane, 4; @%p3 bra REST;"
                  "bar.warp.sync 0xf;" +
                  arrive + "REST:",
              readLane5),
     handOver(1,
              storeOwn +
                  "setp.ge.u32 %p3, %lane, 6; @%p3 bra REST;"
                  "bar.warp.sync 0x3f;" +
                  arrive + "REST:",
              readLane5),
     64},
    {"DropsForTheWritesOfOthers", "expected bar.warp.sync before",
     handOver(1,
              storeOwn + "@%p8 mbarrier.arrive_drop.shared::cta.b64 _, [%r9];",
              readLane5),
     handOver(1,
              storeOwn + syncWarp +
                  "@%p8 mbarrier.arrive_drop.shared::cta.b64 _, [%r9];",
              readLane5),
     64},
    {"ExpectsForTheWritesOfOthers", "expected bar.warp.sync before",
     handOver(1,
              storeOwn + "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, "
                         "[%r9], 0;",
              readLane5),
     handOver(1,
              storeOwn + syncWarp +
                  "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], "
                  "0;",
              readLane5),
     64},
    {"PassesOnWhatOneLaneLearned", "data race: ",
     // Lane 0 of warp 1 knows of warp 2's word, lane 1 arrives.
     setUp(1) +
         "add.u32 %r8, %r9, 8; @%p9 mbarrier.init.shared::cta.b64 [%r8], 1;"
         "bar.sync 0; @%p0 bra W; setp.eq.u32 %p2, %warp, 1; @%p2 bra PASS;"
         "@%p8 st.shared.u32 [%smem+256], 1;"
         "@%p8 mbarrier.arrive.shared::cta.b64 _, [%r8]; ret;"
         "PASS: @!%p8 bra MET;"
         "V: mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r8], 0;"
         "@!%p1 bra V; MET: setp.eq.u32 %p3, %lane, 1;"
         "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r9]; ret;" +
         waitPhase + "ld.shared.u32 %r3, [%smem+256];",
     setUp(1) +
         "add.u32 %r8, %r9, 8; @%p9 mbarrier.init.shared::cta.b64 [%r8], 1;"
         "bar.sync 0; @%p0 bra W; setp.eq.u32 %p2, %warp, 1; @%p2 bra PASS;"
         "@%p8 st.shared.u32 [%smem+256], 1;"
         "@%p8 mbarrier.arrive.shared::cta.b64 _, [%r8]; ret;"
         "PASS: @!%p8 bra MET;"
         "V: mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r8], 0;"
         "@!%p1 bra V; MET:" +
         arrive + "ret;" + waitPhase + "ld.shared.u32 %r3, [%smem+256];",
     96},

    // What a wait teaches.
    {"WaitsForTheOthers", "data race: ",
     setUp(32) + "@%p0 bra LOOK;" + storeOwn + arriveAll +
         "ret; LOOK: @!%p8 bra SEEN;" + waitPhase + "SEEN:" + readLane5,
     setUp(32) + "@%p0 bra LOOK;" + storeOwn + arriveAll +
         "ret; LOOK: @!%p8 bra SEEN;" + waitPhase + "SEEN:" + syncWarp +
         readLane5,
     64},
    {"WaitIsNoWarpSync", "data race: ",
     setUp(1) + "@%p0 bra OWN;" + arrive + "ret; OWN:" + storeOwn + waitPhase +
         "ld.shared.u32 %r3, [%r1];",
     setUp(1) + "@%p0 bra OWN;" + arrive + "ret; OWN:" + storeOwn + waitPhase +
         syncWarp + "ld.shared.u32 %r3, [%r1];",
     64},
    {"ArrivalsOfAWarpOrderItsLanes", "data race: ",
     setUp(31) + storeOwn + "@%p8 bra W;" + arriveAll + waitPhase +
         "ld.shared.u32 %r3, [%r1];",
     setUp(32) + storeOwn + arriveAll + waitPhase + "ld.shared.u32 %r3, [%r1];",
     32},
    {"MatrixAfterAWaitOfOneLane", "data race: ",
     setUp(32) + "@%p0 bra LOOK;" + storeOwn + arriveAll +
         "ret; LOOK: @!%p8 bra SEEN;" + waitPhase +
         "SEEN: add.u32 %r7, %smem, 128;"
         "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r7];",
     setUp(32) + "@%p0 bra LOOK;" + storeOwn + arriveAll +
         "ret; LOOK:" + waitPhase +
         "add.u32 %r7, %smem, 128;"
         "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r7];",
     64},
    {"InitSeenByOneLane", "is not ordered after its initialisation",
     "setp.eq.u32 %p8, %lane, 0;"
     "@%p8 mbarrier.init.shared::cta.b64 [%smem], 32;"
     "mbarrier.arrive.shared::cta.b64 _, [%smem];",
     "setp.eq.u32 %p8, %lane, 0;"
     "@%p8 mbarrier.init.shared::cta.b64 [%smem], 32; bar.warp.sync -1;"
     "mbarrier.arrive.shared::cta.b64 _, [%smem];"},

    // Through memory.
    {"ReleasesForTheWritesOfOthers", "expected bar.warp.sync before",
     byFlag(storeOwn, raiseFlag, lookAll, readLane5),
     byFlag(storeOwn + syncWarp, raiseFlag, lookAll, readLane5), 64},
    {"FencesForTheWritesOfOthers", "expected bar.warp.sync before",
     byFlag(storeOwn,
            "fence.acq_rel.cta; @%p8 atom.shared.exch.b32 %r4, [%r8], 1;",
            lookAll, readLane5),
     byFlag(storeOwn + syncWarp,
            "fence.acq_rel.cta; @%p8 atom.shared.exch.b32 %r4, [%r8], 1;",
            lookAll, readLane5),
     64},
    {"FenceOfAnotherLane", "data race: ",
     byFlag(storeOwn,
            "setp.eq.u32 %p3, %lane, 5; @!%p3 fence.acq_rel.cta;"
            "@%p3 atom.shared.exch.b32 %r4, [%r8], 1;",
            lookAll, readLane5),
     byFlag(storeOwn,
            "setp.eq.u32 %p3, %lane, 5; @%p3 fence.acq_rel.cta;"
            "@%p3 atom.shared.exch.b32 %r4, [%r8], 1;",
            lookAll, readLane5),
     64},
    {"AcquiresForTheOthers",
     "data race: ", byFlag(storeOwn + syncWarp, raiseFlag, lookOne, readLane5),
     byFlag(storeOwn + syncWarp, raiseFlag, lookOne + syncWarp, readLane5), 64},

    // Copies.
    {"ArrivesForTheCopiesOfOthers", "data race: ",
     setUp(2) + copy + waitCopies + arrive + waitPhase + readOther,
     setUp(2) + copy + waitCopies + syncWarp + arrive + waitPhase + readOther,
     64},
    {"CopiesArriveForOneThreadTooFew", "data race: ",
     setUp(63) + copy + noinc + waitPhase + readOther + waitCopies,
     setUp(64) + copy + noinc + waitPhase + readOther, 64},
    {"CopiesArriveForOneThreadTooFewOfFour", "data race: ",
     setUp(127) + copy + noinc + waitPhase + readOtherRows + waitCopies,
     setUp(128) + copy + noinc + waitPhase + readOtherRows, 128},
    {"CopiesArriveForAWarp", "data race: ",
     setUp(2) + copy + "@%p8 " + noinc + waitPhase + readOther + waitCopies,
     setUp(64) + copy + noinc + waitPhase + readOther, 64},
    {"CopiesArriveForOthersThanTheirOwn", "data race: ",
     // Lane 0 copies, lane 1 arrives.
     setUp(1) +
         "@%p0 bra W; setp.eq.u32 %p3, %lane, 1;"
         "@%p8 cp.async.ca.shared.global [%smem], [%in], 16;"
         "@%p3 " +
         noinc + "cp.async.wait_all; ret;" + waitPhase +
         "ld.shared.u32 %r3, "
         "[%smem];",
     setUp(1) +
         "@%p0 bra W; @%p8 cp.async.ca.shared.global [%smem], [%in], 16;"
         "@%p8 " +
         noinc + "cp.async.wait_all; ret;" + waitPhase +
         "ld.shared.u32 %r3, "
         "[%smem];",
     64},
    {"CopiesArriveWithoutNoinc", "data race: ",
     setUp(64) + copy + "@%p8 cp.async.mbarrier.arrive.shared.b64 [%r9];" +
         arriveAll + waitPhase + readOther + waitCopies,
     setUp(64) + copy + "cp.async.mbarrier.arrive.shared.b64 [%r9];" +
         arriveAll + waitPhase + readOther,
     64},

    // Bulk copies by one lane.
    {"StoresTheWritesOfOthers", "data race: ", fill + storeTile,
     fill + syncWarp + storeTile},
    {"WaitsForItsOwnStores", "data race: ",
     fill + syncWarp + storeTile +
         "setp.eq.u32 %p5, %t, 1;"
         "@%p5 st.shared.u32 [%smem], 1;",
     fill + syncWarp + storeTile + syncWarp +
         "setp.eq.u32 %p5, %t, 1;"
         "@%p5 st.shared.u32 [%smem], 1;"},
};

INSTANTIATE_TEST_SUITE_P(All, LaneFault, testing::ValuesIn(cases),
                         faultCaseName);
