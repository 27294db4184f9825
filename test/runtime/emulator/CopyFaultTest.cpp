//===- CopyFaultTest.cpp - TMA, bulk copies and their barriers ------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FaultTest.h"

using namespace attn::test;

namespace {
class CopyFault : public FaultTest {};
} // namespace

TEST_P(CopyFault, IsCaughtAndTwinPasses) { checkFault(GetParam()); }

// The barrier lies behind 32 KiB of tiles. Thread 0 does the copying.
static const std::string setup =
    "setp.eq.u32 %p8, %t, 0; mov.u32 %r190, 0; add.u32 %r191, %smem, 32768;"
    "@!%p8 bra READY; mbarrier.init.shared::cta.b64 [%r191], 1;"
    "$initfence READY: bar.sync 0;";
static const std::string goodSetup =
    substitute(setup, "$initfence", "fence.mbarrier_init.release.cluster;");

static std::string expect(unsigned bytes) {
  return "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r191], " +
         std::to_string(bytes) + ";";
}

static const std::string load =
    "@%p8 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
    "complete_tx::bytes [%smem], [%map, {%r190, %r190}], [%r191];";

static std::string waitFor(unsigned parity) {
  std::string label = "WAIT" + std::to_string(parity);
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r191], " +
         std::to_string(parity) + "; @!%p1 bra " + label + ";";
}

static const std::string readTile = "ld.shared.u32 %r1, [%smem];";

/// Every thread fills its part of the tile, thread 0 stores it by TMA.
static const std::string fill =
    "setp.eq.u32 %p8, %t, 0; mov.u32 %r190, 0; shl.b32 %r0, %t, 6;"
    "add.u32 %r0, %r0, %smem; mov.u32 %r1, 0;"
    "FILL: st.shared.v4.u32 [%r0], {%r190, %r190, %r190, %r190};"
    "add.u32 %r0, %r0, 16; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 4;"
    "@%p0 bra FILL;";
static const std::string store =
    "@%p8 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
    "[%omap, {%r190, %r190}], [%smem];"
    "@%p8 cp.async.bulk.commit_group;";
static const std::string waitRead = "@%p8 cp.async.bulk.wait_group.read 0;";

static const FaultCase cases[] = {
    {"ReadBeforeWait", "data race: ",
     "st.shared.u32 [%smem], 0; fence.proxy.async.shared::cta;" + goodSetup +
         expect(8192) + load + readTile + waitFor(0),
     "st.shared.u32 [%smem], 0; fence.proxy.async.shared::cta;" + goodSetup +
         expect(8192) + load + waitFor(0) + readTile},
    {"StageReusedTooEarly", "data race: ",
     goodSetup + expect(8192) + load + waitFor(0) + readTile + expect(8192) +
         load + waitFor(1),
     goodSetup + expect(8192) + load + waitFor(0) + readTile + "bar.sync 0;" +
         expect(8192) + load + waitFor(1),
     64},
    {"LoadOverGenericWriteWithoutFence", "expected fence.proxy.async",
     "@%p8 st.shared.u32 [%smem], 0;" + goodSetup +
         "@%p8 st.shared.u32 [%smem], 0;" + expect(8192) + load + waitFor(0),
     goodSetup +
         "@%p8 st.shared.u32 [%smem], 0;"
         "fence.proxy.async.shared::cta;" +
         expect(8192) + load + waitFor(0)},
    {"MissingInitFence", "expected fence.mbarrier_init or fence.proxy.async",
     substitute(setup, "$initfence", "") + expect(8192) + load + waitFor(0),
     substitute(setup, "$initfence", "fence.proxy.async.shared::cta;") +
         expect(8192) + load + waitFor(0)},
    {"ExpectsTooFewBytes", "expect_tx does not match the bytes that arrive",
     goodSetup + expect(4096) + load + waitFor(0),
     goodSetup + expect(8192) + load + waitFor(0)},
    {"ExpectsTooManyBytes", "8192 more bytes expected than arrived",
     goodSetup + expect(16384) + load + waitFor(0),
     goodSetup + expect(16384) + load +
         "add.u32 %r189, %smem, 8192; @%p8 cp.async.bulk.tensor.2d.shared::"
         "cluster.global.mbarrier::complete_tx::bytes [%r189], "
         "[%map, {%r190, %r190}], [%r191];" +
         waitFor(0)},
    {"ForgotToExpect", "expect_tx does not match the bytes that arrive",
     goodSetup + load + "@%p8 mbarrier.arrive.shared::cta.b64 _, [%r191];" +
         waitFor(0),
     goodSetup + load +
         "@%p8 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r191], 8192;"
         "@%p8 mbarrier.arrive.shared::cta.b64 _, [%r191];" +
         waitFor(0)},
    {"NobodyWaitsForALoad", "without a wait for the copy",
     goodSetup + expect(8192) + load,
     goodSetup + expect(8192) + load + waitFor(0)},
    {"StoreWithoutProxyFence", "expected fence.proxy.async",
     fill + "bar.sync 0;" + store + waitRead,
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store + waitRead,
     128},
    {"StoreWithoutBarrier", "asynchronous copy",
     fill + "fence.proxy.async.shared::cta;" + store + waitRead,
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store + waitRead,
     128},
    {"SourceOverwrittenBeforeWait", "data race: ",
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store +
         "@%p8 st.shared.u32 [%smem], 1;" + waitRead,
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store + waitRead +
         "@%p8 st.shared.u32 [%smem], 1;",
     128},
    {"EndsWithStoreUnderWay", "bulk store may still read shared memory",
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store,
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store + waitRead,
     128},
    {"AnotherLaneWaits", "bulk store may still read shared memory",
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store +
         "@!%p8 cp.async.bulk.wait_group.read 0;",
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store +
         "cp.async.bulk.wait_group.read 0;",
     128},
    {"ResultReadAfterReadWait", "data race: read of global address",
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store + waitRead +
         "@%p8 ld.global.u32 %r3, [%out]; @%p8 cp.async.bulk.wait_group 0;",
     fill + "fence.proxy.async.shared::cta; bar.sync 0;" + store +
         "@%p8 cp.async.bulk.wait_group 0; @%p8 ld.global.u32 %r3, [%out];",
     128},
    {"NotATensorMap", "expected a tensor map of this device",
     goodSetup + "mov.b64 %map, %in;" + expect(8192) + load + waitFor(0),
     goodSetup + expect(8192) + load + waitFor(0)},
    {"WrongRank", "the copy has 3 dimensions, but the tensor map 2",
     goodSetup + expect(8192) +
         "@%p8 cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::"
         "complete_tx::bytes [%smem], [%map, {%r190, %r190, %r190}], [%r191];" +
         waitFor(0),
     goodSetup + expect(8192) + load + waitFor(0)},
    {"LoadPastSharedMemory", "out-of-bounds tensor copy",
     goodSetup + "add.u32 %smem, %smem, 61440;" + expect(8192) + load +
         waitFor(0),
     goodSetup + "add.u32 %smem, %smem, 57344;" + expect(8192) + load +
         waitFor(0)},
    {"LoadMisaligned", "misaligned tensor copy",
     goodSetup + "add.u32 %smem, %smem, 64;" + expect(8192) + load + waitFor(0),
     goodSetup + "add.u32 %smem, %smem, 1024;" + expect(8192) + load +
         waitFor(0)},
    {"BulkCopyMisaligned", "misaligned bulk copy",
     goodSetup + expect(32) +
         "@%p8 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
         "bytes [%smem+8], [%in], 32, [%r191];" +
         waitFor(0),
     goodSetup + expect(32) +
         "@%p8 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
         "bytes [%smem+16], [%in], 32, [%r191];" +
         waitFor(0)},
    {"BulkCopyPastTheTensor", "out-of-bounds read of 64 bytes by an",
     goodSetup + expect(64) + "add.s64 %d0, %in, 8160;" +
         "@%p8 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
         "bytes [%smem], [%d0], 64, [%r191];" +
         waitFor(0),
     goodSetup + expect(64) + "add.s64 %d0, %in, 8128;" +
         "@%p8 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
         "bytes [%smem], [%d0], 64, [%r191];" +
         waitFor(0)},
};

INSTANTIATE_TEST_SUITE_P(All, CopyFault, testing::ValuesIn(cases),
                         faultCaseName);
