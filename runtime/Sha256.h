//===- Sha256.h - SHA-256 of bytes ---------------------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_SHA256_H
#define ATTN_RUNTIME_SHA256_H

#include <string>
#include <string_view>

namespace attn::runtime {

/// 64 lower-case hexadecimal digits, as `sha256sum` prints them.
std::string sha256(std::string_view bytes);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_SHA256_H
