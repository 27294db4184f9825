//===- TargetNames.h - What targets are called ---------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from the table, since a spec is also read where there is no LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CODEGEN_TARGET_TARGETNAMES_H
#define ATTN_CODEGEN_TARGET_TARGETNAMES_H

namespace mlir::attn {

/// In the order of the table in TargetInfo.cpp, which checks it.
inline constexpr const char *kTargetNames[] = {
    "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a", "host"};

} // namespace mlir::attn

#endif // ATTN_CODEGEN_TARGET_TARGETNAMES_H
