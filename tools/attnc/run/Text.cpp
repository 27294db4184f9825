//===- Text.cpp - printf into a string ------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/attnc/run/Text.h"

#include <cstdarg>
#include <cstdio>
#include <locale.h>

namespace attnc {

namespace {

/// The C locale for this thread, for a scope.
class PlainNumbers {
public:
  PlainNumbers() : before_(uselocale(plain())) {}
  ~PlainNumbers() { uselocale(before_); }

private:
  /// Made once and never freed.
  static locale_t plain() {
    static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }
  locale_t before_;
};

} // namespace

std::string format(const char *pattern, ...) {
  PlainNumbers scope;
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
