//===- Text.cpp - printf into a string ------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Text.h"

#include <cstdarg>
#include <cstdio>

namespace attnc {

std::string format(const char *pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string printProblem(const Problem &p) {
  return format("b=%lld sq=%lld sk=%lld heads=%lld/%lld d=%lld/%lld %s",
                (long long)p.batch, (long long)p.queries, (long long)p.keys,
                (long long)p.qoHeads, (long long)p.kvHeads,
                (long long)p.headDimQk, (long long)p.headDimVo,
                p.dtype.c_str());
}

} // namespace attnc
