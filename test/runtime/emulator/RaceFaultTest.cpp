//===- RaceFaultTest.cpp - Data races between threads ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FaultTest.h"

using namespace attn::test;

namespace {
class RaceFault : public FaultTest {};
} // namespace

TEST_P(RaceFault, IsCaughtAndTwinPasses) { checkFault(GetParam()); }

// Each thread writes a word of shared memory and reads another warp's.
static const std::string exchange =
    "mul.lo.u32 %r0, %t, 4; add.u32 %r0, %r0, %smem;"
    "xor.b32 %r1, %t, 32; mul.lo.u32 %r1, %r1, 4; add.u32 %r1, %r1, %smem;"
    "st.shared.u32 [%r0], %t; $sync ld.shared.u32 %r2, [%r1];";

// The same within a warp.
static const std::string exchangeLanes =
    "mul.lo.u32 %r0, %t, 4; add.u32 %r0, %r0, %smem;"
    "xor.b32 %r1, %t, 1; mul.lo.u32 %r1, %r1, 4; add.u32 %r1, %r1, %smem;"
    "st.shared.u32 [%r0], %t; $sync ld.shared.u32 %r2, [%r1];";

// Warp 0 reads what warp 1 then overwrites.
static const std::string overwrite =
    "setp.eq.u32 %p0, %warp, 0; setp.eq.u32 %p1, %t, 32;"
    "setp.eq.u32 %p2, %t, 0;"
    "@%p2 st.shared.u32 [%smem], 1; bar.sync 0;"
    "@%p0 ld.shared.u32 %r2, [%smem]; $sync"
    "@%p1 st.shared.u32 [%smem], 2;";

// Block 0 writes data and raises a flag that block 1 waits for.
static const std::string handOver =
    "setp.ne.u32 %p0, %blk, 0; @%p0 bra READER;"
    "st.global.u32 [%out+64], 7; $fence"
    "atom.add.u32 %r0, [%out], 1; ret;"
    "READER: $spin ld.global.u32 %r2, [%out+64];";

static std::string handOverWith(const std::string &fence,
                                const std::string &acquire) {
  std::string spin =
      "WAIT: atom.add.u32 %r1, [%out], 0; setp.eq.u32 %p1, %r1, $before;"
      "@%p1 bra WAIT;" +
      acquire;
  return substitute(substitute(handOver, "$fence", fence), "$spin", spin);
}

// %in serves as the memory that all blocks can read at first; $before is what
// its first word holds.
static std::string onInput(const std::string &text) {
  uint32_t word = inputElement(0, 0) | uint32_t(inputElement(0, 1)) << 16;
  return substitute(substitute(text, "%out", "%in"), "$before",
                    std::to_string(word));
}

// Warp 0 writes a word and arrives, warp 1 waits and reads.
static std::string handShake(const std::string &arrive,
                             const std::string &wait) {
  return "setp.ne.u32 %p0, %t, 0; add.u32 %r0, %smem, 64; @%p0 bra READY;"
         "mbarrier.init.shared::cta.b64 [%smem], 1; st.shared.u32 [%r0], 1;"
         "READY: bar.sync 0; setp.ge.u32 %p1, %t, 32; @%p1 bra READER;"
         "@%p0 bra DONE; st.shared.u32 [%r0], 2; mbarrier.arrive." +
         arrive +
         ".shared::cta.b64 _, [%smem]; DONE: ret;"
         "READER: mbarrier.try_wait.parity." +
         wait +
         ".shared::cta.b64 %p2, [%smem], 0; @!%p2 bra READER;"
         "ld.shared.u32 %r1, [%r0];";
}

static const FaultCase cases[] = {
    {"SharedReadBeforeBarrier", "never written",
     substitute(exchange, "$sync", ""),
     substitute(exchange, "$sync", "bar.sync 0;"), 64},
    {"SharedReadUnordered", "data race: ",
     // All words are written once under a barrier, then again without one.
     "mul.lo.u32 %r0, %t, 4; add.u32 %r0, %r0, %smem;"
     "st.shared.u32 [%r0], 0; bar.sync 0;" +
         substitute(exchange, "$sync", ""),
     "mul.lo.u32 %r0, %t, 4; add.u32 %r0, %r0, %smem;"
     "st.shared.u32 [%r0], 0; bar.sync 0;" +
         substitute(exchange, "$sync", "bar.sync 0;"),
     64},
    {"LanesWithoutWarpSync", "data race: read of shared address",
     substitute(exchangeLanes, "$sync", ""),
     substitute(exchangeLanes, "$sync", "bar.warp.sync -1;")},
    {"WriteAfterReadUnordered",
     "data race: ", substitute(overwrite, "$sync", ""),
     substitute(overwrite, "$sync", "bar.sync 0;"), 64},
    {"BarrierOfTooFewThreads", "data race: ",
     // Warps 0 and 1 meet, but warp 2 wrote.
     "setp.lt.u32 %p0, %warp, 2; setp.eq.u32 %p1, %t, 0;"
     "@%p1 st.shared.u32 [%smem], 0; bar.sync 0;"
     "setp.eq.u32 %p2, %t, 64; @%p2 st.shared.u32 [%smem], 1;"
     "@!%p0 bra DONE; bar.sync 1, 64; ld.shared.u32 %r0, [%smem]; DONE: ret;",
     "setp.lt.u32 %p0, %warp, 2; setp.eq.u32 %p1, %t, 0;"
     "@%p1 st.shared.u32 [%smem], 0; bar.sync 0;"
     "setp.eq.u32 %p2, %t, 64; @%p2 st.shared.u32 [%smem], 1;"
     "@!%p0 bra OTHER; bar.sync 1, 96; ld.shared.u32 %r0, [%smem]; ret;"
     "OTHER: bar.arrive 1, 96;",
     96},
    {"LanesWriteDifferentValues", "writes a different value",
     "st.shared.u32 [%smem], %t;", "st.shared.u32 [%smem], 5;"},
    {"BlocksWriteTheSameWord", "data race: write of global address",
     "setp.eq.u32 %p0, %t, 0; @%p0 st.global.u32 [%out], %blk;",
     "setp.eq.u32 %p0, %t, 0; mul.wide.u32 %d0, %blk, 4;"
     "add.s64 %d0, %out, %d0; @%p0 st.global.u32 [%d0], %blk;",
     32, 2},
    {"PlainAccessBesideAtomic", "data race: ",
     onInput("setp.eq.u32 %p0, %blk, 0; @%p0 red.global.add.u32 [%out], 1;"
             "@!%p0 ld.global.u32 %r0, [%out];"),
     onInput("setp.eq.u32 %p0, %blk, 0; @%p0 red.global.add.u32 [%out], 1;"
             "@!%p0 ld.relaxed.gpu.global.u32 %r0, [%out];"),
     1, 2},
    {"FlagWithoutRelease", "data race: read of global address",
     onInput(handOverWith("", "fence.acq_rel.gpu;")),
     onInput(handOverWith("fence.acq_rel.gpu;", "fence.acq_rel.gpu;")), 1, 2},
    {"FlagWithoutAcquire", "data race: read of global address",
     onInput(handOverWith("fence.acq_rel.gpu;", "")),
     onInput(handOverWith("membar.gl;", "membar.gl;")), 1, 2},
    {"MbarrierArriveRelaxed",
     "data race: ", handShake("relaxed.cta", "acquire.cta"),
     handShake("release.cta", "acquire.cta"), 64},
    {"MbarrierWaitRelaxed",
     "data race: ", handShake("release.cta", "relaxed.cta"),
     handShake("release.cta", "acquire.cta"), 64},
    {"StmatrixThenLdmatrix", "data race: ldmatrix of shared address",
     "shl.b32 %r0, %lane, 4; add.u32 %r0, %r0, %smem;"
     "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r0], {%t, %t, %t, %t};"
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];",
     "shl.b32 %r0, %lane, 4; add.u32 %r0, %r0, %smem;"
     "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r0], {%t, %t, %t, %t};"
     "bar.warp.sync -1;"
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];"},
};

INSTANTIATE_TEST_SUITE_P(All, RaceFault, testing::ValuesIn(cases),
                         faultCaseName);
