//===- ProxyFaultTest.cpp - What a proxy fence covers ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fence.proxy.async is for one memory or for all of them, and for what the
// fencing thread did or has seen; fence.mbarrier_init is for mbarriers that the
// thread initialised.
//
//===----------------------------------------------------------------------===//

#include "FaultTest.h"

using namespace attn::test;

namespace {
class ProxyFault : public FaultTest {};
} // namespace

TEST_P(ProxyFault, IsCaughtAndTwinPasses) { checkFault(GetParam()); }

static const std::string fenceShared = "fence.proxy.async.shared::cta;";
static const std::string fenceCluster = "fence.proxy.async.shared::cluster;";
static const std::string fenceGlobal = "fence.proxy.async.global;";
static const std::string fenceAll = "fence.proxy.async;";
static const std::string fenceInit = "fence.mbarrier_init.release.cluster;";
static const std::string barrier = "bar.sync 0;";

// Each thread fills 64 bytes of shared memory with zeros.
static const std::string fill =
    "setp.eq.u32 %p8, %t, 0; mov.u32 %r190, 0; shl.b32 %r0, %t, 6;"
    "add.u32 %r0, %r0, %smem; mov.u32 %r1, 0;"
    "FILL: st.shared.v4.u32 [%r0], {%r190, %r190, %r190, %r190};"
    "add.u32 %r0, %r0, 16; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 4;"
    "@%p0 bra FILL;";
static const std::string storeTile =
    "@%p8 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
    "[%omap, {%r190, %r190}], [%smem]; @%p8 cp.async.bulk.commit_group;"
    "@%p8 cp.async.bulk.wait_group 0;";

// The mbarrier lies behind 32 KiB of tiles.
static std::string setUp(const std::string &fence) {
  return "setp.eq.u32 %p8, %t, 0; mov.u32 %r190, 0; add.u32 %r191, %smem, "
         "32768; @!%p8 bra READY; mbarrier.init.shared::cta.b64 [%r191], 1;" +
         fence + "READY: bar.sync 0;";
}
static const std::string loadTile =
    "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r191], 8192;"
    "@%p8 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
    "complete_tx::bytes [%smem], [%map, {%r190, %r190}], [%r191];"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r191], 0;"
    "@!%p1 bra WAIT;";

static std::string stores(const std::string &fence) {
  return fill + fence + barrier + storeTile;
}
/// A tile is loaded where there is something already.
static std::string loadsOver(const std::string &fence) {
  return setUp(fenceInit) + "@%p8 st.shared.u32 [%smem+64], 1;" + fence +
         loadTile;
}
/// A tile is loaded of which a thread wrote a part.
static std::string loadsFrom(const std::string &fence) {
  return setUp(fenceInit) + "@%p8 st.global.u32 [%in+64], 1;" + fence +
         loadTile;
}
/// A tile is stored where a thread wrote something.
static std::string storesOver(const std::string &fence) {
  return fill + "@%p8 st.global.u32 [%out+64], 1;" + fenceShared + fence +
         barrier + storeTile;
}
/// A wgmma reads what threads wrote.
static std::string multiplies(const std::string &fence) {
  std::string registers = registerList("%f", 0, 4);
  return fill + fence + barrier +
         "mov.u32 %r2, %smem; shr.u32 %r2, %r2, 4; cvt.u64.u32 %d0, %r2;"
         "or.b64 %d0, %d0, 0x4000004000010000;"
         "wgmma.fence.sync.aligned;"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " +
         registers +
         ", %d0, %d0, 0, 1, 1, 0, 0;"
         "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
}

static const FaultCase cases[] = {
    {"StoreFencesGlobal", "expected fence.proxy.async", stores(fenceGlobal),
     stores(fenceShared), 128},
    {"StoreFencesInit", "expected fence.proxy.async", stores(fenceInit),
     stores(fenceCluster), 128},
    {"StoreFencesNothing", "expected fence.proxy.async", stores(""),
     stores(fenceAll), 128},
    {"LoadOverFencesGlobal", "expected fence.proxy.async",
     loadsOver(fenceGlobal), loadsOver(fenceShared)},
    {"LoadOverFencesInit", "expected fence.proxy.async", loadsOver(fenceInit),
     loadsOver(fenceCluster)},
    {"LoadOverFencesNothing", "expected fence.proxy.async", loadsOver(""),
     loadsOver(fenceAll)},
    {"LoadFromFencesShared", "expected fence.proxy.async",
     loadsFrom(fenceShared), loadsFrom(fenceGlobal)},
    {"LoadFromFencesCluster", "expected fence.proxy.async",
     loadsFrom(fenceCluster), loadsFrom(fenceAll)},
    {"StoreOverFencesShared", "expected fence.proxy.async",
     storesOver(fenceCluster), storesOver(fenceGlobal), 128},
    {"StoreOverFencesNothing", "expected fence.proxy.async", storesOver(""),
     storesOver(fenceAll), 128},
    {"WgmmaFencesGlobal", "expected fence.proxy.async", multiplies(fenceGlobal),
     multiplies(fenceShared), 128},
    {"WgmmaFencesNothing", "expected fence.proxy.async", multiplies(""),
     multiplies(fenceAll), 128},

    {"InitFencesGlobal", "expected fence.mbarrier_init or fence.proxy.async",
     setUp(fenceGlobal) + loadTile, setUp(fenceShared) + loadTile},
    {"InitFencesNothing", "expected fence.mbarrier_init or fence.proxy.async",
     setUp("") + loadTile, setUp(fenceCluster) + loadTile},
    {"InitFencedTooEarly", "expected fence.mbarrier_init or fence.proxy.async",
     fenceInit + fenceAll + setUp("") + loadTile, setUp(fenceAll) + loadTile},
    // Only a proxy fence is for what other threads initialised.
    {"InitFencedByAnother", "expected fence.mbarrier_init or fence.proxy.async",
     setUp("") + "@!%p8 " + fenceInit + barrier + loadTile,
     setUp("") + "@!%p8 " + fenceShared + barrier + loadTile, 64},

    // Who fences.
    {"WriterDidNotFence", "expected fence.proxy.async",
     fill + "@%p8 " + fenceShared + barrier + storeTile,
     fill + barrier + "@%p8 " + fenceShared + storeTile, 128},
    {"AnotherFencesLate", "expected fence.proxy.async",
     fill + barrier + "@!%p8 " + fenceShared + storeTile,
     fill + barrier + "@!%p8 " + fenceShared + barrier + storeTile, 128},
    {"FencedBeforeTheWrite", "expected fence.proxy.async",
     fenceShared + fill + barrier + storeTile,
     fill + fenceShared + barrier + storeTile, 128},
};

INSTANTIATE_TEST_SUITE_P(All, ProxyFault, testing::ValuesIn(cases),
                         faultCaseName);
