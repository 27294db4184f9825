//===- MemoryFaultTest.cpp - Bounds, alignment, never-written bytes -------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FaultTest.h"

using namespace attn::test;

namespace {
class MemoryFault : public FaultTest {};
} // namespace

TEST_P(MemoryFault, IsCaughtAndTwinPasses) { checkFault(GetParam()); }

static const FaultCase cases[] = {
    {"GlobalReadPastTheEnd", "out-of-bounds read of 4 bytes at global address",
     "mul.wide.u32 %d0, %t, 4; add.s64 %d0, %in, %d0;"
     "ld.global.u32 %r0, [%d0+8068];",
     "mul.wide.u32 %d0, %t, 4; add.s64 %d0, %in, %d0;"
     "ld.global.u32 %r0, [%d0+8064];"},
    {"GlobalWriteBeforeTheStart", "4 bytes before the allocation",
     "st.global.u32 [%in+-4], %t;",
     "setp.eq.u32 %p0, %t, 0;"
     "@%p0 st.global.u32 [%in], %t;"},
    {"GlobalVectorStraddlesTheEnd", "out-of-bounds write of 8 bytes",
     "setp.eq.u32 %p0, %t, 0;"
     "@%p0 st.global.v2.u32 [%out+8192], {%t, %t};",
     "setp.eq.u32 %p0, %t, 0;"
     "@%p0 st.global.v2.u32 [%out+8184], {%t, %t};"},
    {"NullPointer", "which is in no allocation",
     "mov.u64 %d0, 0; ld.global.u32 %r0, [%d0];", "ld.global.u32 %r0, [%in];"},
    {"UseAfterFree", "which was freed", "ld.global.u32 %r0, [%in];",
     "ld.global.u32 %r0, [%in];", 32, 1, true},
    {"SharedPastTheEnd", "out-of-bounds write of 4 bytes at shared address",
     "st.shared.u32 [%smem+65536], 1;",
     "setp.eq.u32 %p0, %t, 0;"
     "@%p0 st.shared.u32 [%smem+65532], 1;"},
    {"SharedNull", "out-of-bounds read of 4 bytes at shared address 0x0",
     "mov.u32 %r0, 0; ld.shared.u32 %r1, [%r0];",
     "st.shared.u32 [%smem], 7; ld.shared.u32 %r1, [%smem];", 1},
    {"LocalPastTheEnd", "out-of-bounds write of 4 bytes at local address",
     ".local .align 4 .b8 stack[16]; mov.u64 %d0, stack;"
     "st.local.u32 [%d0+16], %t;",
     ".local .align 4 .b8 stack[16]; mov.u64 %d0, stack;"
     "st.local.u32 [%d0+12], %t;"},
    {"ParameterPastTheEnd", "out-of-bounds read of 8 bytes at param address",
     "ld.param.u64 %d0, [out+8];", "ld.param.u64 %d0, [out];"},
    {"GlobalMisaligned",
     "misaligned read: expected an address that is a "
     "multiple of 4",
     "ld.global.u32 %r0, [%in+2];", "ld.global.u16 %h0, [%in+2];"},
    {"VectorMisaligned",
     "misaligned write: expected an address that is a "
     "multiple of 16",
     "st.shared.v4.u32 [%smem+8], {%t, %t, %t, %t};",
     "st.shared.v4.u32 [%smem+16], {%t, %t, %t, %t};", 1},
    {"GlobalNeverWritten", "which was never written",
     "ld.global.u32 %r0, [%out];",
     "st.global.u32 [%out], 5; ld.global.u32 %r0, [%out];", 1},
    {"GlobalPartlyWritten", "which was never written",
     "st.global.u16 [%out], 5; ld.global.u32 %r0, [%out];",
     "st.global.u16 [%out], 5; st.global.u16 [%out+2], 5;"
     "ld.global.u32 %r0, [%out];",
     1},
    {"SharedNeverWritten", "which was never written",
     "ld.shared.u32 %r0, [%smem+64];",
     "st.shared.u32 [%smem+64], 5; ld.shared.u32 %r0, [%smem+64];", 1},
    {"LocalNeverWritten", "which was never written",
     ".local .align 4 .b8 stack[16]; mov.u64 %d0, stack;"
     "ld.local.u32 %r0, [%d0];",
     ".local .align 4 .b8 stack[16]; mov.u64 %d0, stack;"
     "st.local.u32 [%d0], 1; ld.local.u32 %r0, [%d0];"},
    {"GenericAddressOutOfBounds", "out-of-bounds read of 4 bytes at shared",
     "cvt.u64.u32 %d0, %smem; cvta.shared.u64 %d0, %d0;"
     "ld.u32 %r0, [%d0+70000];",
     "cvt.u64.u32 %d0, %smem; cvta.shared.u64 %d0, %d0;"
     "st.u32 [%d0], 4; ld.u32 %r0, [%d0];",
     1},
    {"OrdinaryAccessToMbarrier", "ordinary read of the mbarrier",
     "mbarrier.init.shared::cta.b64 [%smem], 1; ld.shared.b64 %d0, [%smem];",
     "mbarrier.init.shared::cta.b64 [%smem], 1;"
     "mbarrier.inval.shared::cta.b64 [%smem];",
     1},
    {"Trap", "executed a trap", "setp.eq.u32 %p0, %t, 3; @%p0 trap;",
     "setp.eq.u32 %p0, %t, 40; @%p0 trap;"},
    {"DivergentUniformBranch", "marked .uni",
     "setp.lt.u32 %p0, %t, 3; @%p0 bra.uni DONE; mov.u32 %r0, 1; DONE: ret;",
     "setp.lt.u32 %p0, %t, 99; @%p0 bra.uni DONE; mov.u32 %r0, 1;"
     "DONE: ret;"},
};

INSTANTIATE_TEST_SUITE_P(All, MemoryFault, testing::ValuesIn(cases),
                         faultCaseName);
