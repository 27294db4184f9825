//===- IntegerFlag.h - Values of numeric flags ------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_RUN_INTEGERFLAG_H
#define ATTN_TOOLS_ATTNC_RUN_INTEGERFLAG_H

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace attnc {

/// The check of a flag that takes an integer. The library's own conversion
/// takes -1 and what is too large for some other number.
inline CLI::Validator integerFrom(uint64_t least, uint64_t most) {
  auto check = [=](std::string &text) -> std::string {
    uint64_t value = 0;
    const char *last = text.data() + text.size();
    auto [end, code] = std::from_chars(text.data(), last, value);
    if (code == std::errc() && end == last && value >= least && value <= most)
      return {};
    return "expected an integer from " + std::to_string(least) + " to " +
           std::to_string(most) + ", but got '" + text + "'";
  };
  return CLI::Validator(check, "");
}

/// The same for any number above 0; the library's own check takes NaN.
inline CLI::Validator positiveNumber() {
  auto check = [](std::string &text) -> std::string {
    double value = 0;
    const char *last = text.data() + text.size();
    auto [end, code] = std::from_chars(text.data(), last, value);
    if (code == std::errc() && end == last && std::isfinite(value) && value > 0)
      return {};
    return "expected a finite number greater than 0, but got '" + text + "'";
  };
  return CLI::Validator(check, "");
}

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_RUN_INTEGERFLAG_H
