//===- BarrierFaultTest.cpp - Barriers, convergence, registers, deadlock --===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FaultTest.h"

using namespace attn::test;

namespace {
class BarrierFault : public FaultTest {};
} // namespace

TEST_P(BarrierFault, IsCaughtAndTwinPasses) { checkFault(GetParam()); }

static const std::string init =
    "setp.ne.u32 %p9, %t, 0; @%p9 bra READY;"
    "mbarrier.init.shared::cta.b64 [%smem], $count; READY: bar.sync 0;";

static std::string withBarrier(const std::string &count,
                               const std::string &body) {
  return substitute(init, "$count", count) + body;
}

static const std::string waitPhase0 =
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%smem], 0;"
    "@!%p1 bra WAIT;";

static const FaultCase cases[] = {
    {"BarrierInDivergedWarp", "collective instruction in a diverged warp",
     "setp.lt.u32 %p0, %lane, 7; @%p0 bra OTHER; bar.sync 0; OTHER: ret;",
     "setp.lt.u32 %p0, %lane, 7; @%p0 bra OTHER; mov.u32 %r0, 1; OTHER:"
     "bar.sync 0;"},
    {"PredicatedBarrier", "collective instruction in a diverged warp",
     "setp.lt.u32 %p0, %lane, 7; @%p0 bar.sync 0;",
     "setp.lt.u32 %p0, %lane, 70; @%p0 bar.sync 0;"},
    {"ShuffleInDivergedWarp", "collective instruction in a diverged warp",
     "setp.lt.u32 %p0, %lane, 16; @%p0 bra OTHER;"
     "shfl.sync.bfly.b32 %r0, %t, 1, 31, -1; OTHER: ret;",
     "setp.lt.u32 %p0, %lane, 16; @%p0 bra OTHER;"
     "shfl.sync.bfly.b32 %r0, %t, 1, 31, 0xffff0000; OTHER: ret;"},
    {"ShuffleByAStranger", "not in the member mask",
     "shfl.sync.bfly.b32 %r0, %t, 1, 31, 0xffff;",
     "setp.lt.u32 %p0, %lane, 16;"
     "@%p0 shfl.sync.bfly.b32 %r0, %t, 1, 31, 0xffff;"},
    {"VoteInDivergedWarp", "collective instruction in a diverged warp",
     "setp.lt.u32 %p0, %lane, 16; @%p0 vote.sync.any.pred %p1, %p0, -1;",
     "setp.lt.u32 %p0, %lane, 16; vote.sync.any.pred %p1, %p0, -1;"},
    {"ElectInDivergedWarp", "collective instruction in a diverged warp",
     "setp.lt.u32 %p0, %lane, 16; @%p0 elect.sync %r0|%p1, -1;",
     "elect.sync %r0|%p1, -1;"},
    {"LdmatrixInDivergedWarp", "collective instruction in a diverged warp",
     "setp.lt.u32 %p0, %lane, 16; @%p0 movmatrix.sync.aligned.m8n8.trans.b16 "
     "%r0, %t;",
     "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %t;"},
    {"NamedBarrierCountsDiffer", "threads, but with",
     "setp.eq.u32 %p0, %warp, 0; @%p0 bra OTHER; bar.sync 1, 96; ret;"
     "OTHER: bar.sync 1, 64;",
     "setp.eq.u32 %p0, %warp, 0; @%p0 bra OTHER; bar.sync 1, 96; ret;"
     "OTHER: bar.arrive 1, 96;",
     96},
    {"NamedBarrierOutOfRange", "expected a barrier from 0 to 15, but got 16",
     "mov.u32 %r0, 16; bar.sync %r0;", "mov.u32 %r0, 15; bar.sync %r0;"},
    {"NamedBarrierOfTooManyThreads", "thread count", "bar.sync 1, 128;",
     "bar.sync 1, 64;", 64},
    {"NamedBarrierNeverComplete", "deadlock: no warp can run",
     "setp.eq.u32 %p0, %warp, 0; @%p0 bra DONE; bar.sync 1, 64; DONE: ret;",
     "setp.eq.u32 %p0, %warp, 0; @%p0 bra DONE; bar.sync 1, 32; DONE: ret;",
     64},
    {"MbarrierNeverComplete", "1 of 2 arrivals pending",
     withBarrier("2", "setp.eq.u32 %p0, %t, 0; @%p0 "
                      "mbarrier.arrive.shared::cta.b64 _, [%smem];" +
                          waitPhase0),
     withBarrier("1", "setp.eq.u32 %p0, %t, 0; @%p0 "
                      "mbarrier.arrive.shared::cta.b64 _, [%smem];" +
                          waitPhase0)},
    {"MbarrierSpinNeverComplete", "nothing changed for",
     withBarrier("1", "WAIT: mbarrier.test_wait.parity.shared::cta.b64 %p1, "
                      "[%smem], 0; @!%p1 bra WAIT;"),
     withBarrier("1", "WAIT: mbarrier.test_wait.parity.shared::cta.b64 %p1, "
                      "[%smem], 1; @!%p1 bra WAIT;")},
    {"LockNeverFree", "nothing changed for",
     "st.shared.u32 [%smem], 0; bar.warp.sync -1;"
     "WAIT: atom.shared.cas.b32 %r0, [%smem], 0, 1; setp.ne.u32 %p0, %r0, 0;"
     "@%p0 bra WAIT;",
     "st.shared.u32 [%smem], 0; bar.warp.sync -1;"
     "WAIT: atom.shared.cas.b32 %r0, [%smem], 0, 1; setp.ne.u32 %p0, %r0, 0;"
     "@%p0 bra WAIT; atom.shared.exch.b32 %r0, [%smem], 0;"},
    {"MbarrierArrivalBeyondTheCount", "arrival beyond the count",
     withBarrier("31", "mbarrier.arrive.shared::cta.b64 _, [%smem], 32;"),
     withBarrier("32", "setp.eq.u32 %p0, %t, 0; @%p0 "
                       "mbarrier.arrive.shared::cta.b64 _, [%smem], 32;")},
    {"MbarrierNotInitialised", "no mbarrier was initialised",
     "st.shared.u64 [%smem], 0;"
     "mbarrier.arrive.shared::cta.b64 _, [%smem];",
     "mbarrier.init.shared::cta.b64 [%smem], 1;"
     "mbarrier.arrive.shared::cta.b64 _, [%smem];",
     1},
    {"MbarrierInitialisedTwice", "is initialised again",
     "mbarrier.init.shared::cta.b64 [%smem], 1;"
     "mbarrier.init.shared::cta.b64 [%smem], 1;",
     "mbarrier.init.shared::cta.b64 [%smem], 1;"
     "mbarrier.inval.shared::cta.b64 [%smem];"
     "mbarrier.init.shared::cta.b64 [%smem], 1;",
     1},
    {"MbarrierUsedBeforeItsInitIsSeen", "mbarrier",
     "setp.ne.u32 %p0, %t, 0; @%p0 bra OTHER;"
     "mbarrier.init.shared::cta.b64 [%smem], 64; OTHER:"
     "mbarrier.arrive.shared::cta.b64 _, [%smem];",
     withBarrier("64", "mbarrier.arrive.shared::cta.b64 _, [%smem];"), 64},
    {"SetmaxnregByOneWarp", "setmaxnreg is not executed by the whole",
     "setp.eq.u32 %p0, %warp, 0; @%p0 bra OTHER;"
     "setmaxnreg.dec.sync.aligned.u32 40; ret;"
     "OTHER: setmaxnreg.dec.sync.aligned.u32 48;",
     "setmaxnreg.dec.sync.aligned.u32 40;", 128},
    {"SetmaxnregPoolIsEmpty", "registers per thread",
     // 256 threads have 248 registers each; nobody gives any back.
     "setmaxnreg.inc.sync.aligned.u32 256;",
     "setp.lt.u32 %p0, %warp, 4; @%p0 bra OTHER;"
     "setmaxnreg.inc.sync.aligned.u32 256; ret;"
     "OTHER: setmaxnreg.dec.sync.aligned.u32 40;",
     256},
    {"SetmaxnregWrongDirection", "setmaxnreg.inc to 24",
     "setmaxnreg.inc.sync.aligned.u32 24;",
     "setmaxnreg.dec.sync.aligned.u32 24;", 128},
};

INSTANTIATE_TEST_SUITE_P(All, BarrierFault, testing::ValuesIn(cases),
                         faultCaseName);
