//===- Layout.h - The emulated address spaces -------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_LAYOUT_H
#define ATTN_RUNTIME_EMULATOR_LAYOUT_H

#include <cstdint>

namespace attn::runtime::emulator {

/// What the system keeps at the start of a block's shared memory on sm_90. An
/// access there is out of bounds, which also catches null pointers.
constexpr uint32_t sharedReservedBytes = 1024;

/// Generic addresses of the other spaces; global addresses are their own. The
/// windows lie above all of global memory.
constexpr uint64_t windowBytes = uint64_t(1) << 32;
constexpr uint64_t sharedWindow = uint64_t(0x7f01) << 32;
constexpr uint64_t localWindow = uint64_t(0x7f02) << 32;
constexpr uint64_t paramWindow = uint64_t(0x7f03) << 32;
constexpr uint64_t constWindow = uint64_t(0x7f04) << 32;

constexpr uint64_t globalBase = uint64_t(0x0010) << 32;

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_LAYOUT_H
