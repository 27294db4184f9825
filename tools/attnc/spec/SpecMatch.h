//===- SpecMatch.h - Whether a kernel is that of a spec ------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_SPEC_SPECMATCH_H
#define ATTN_TOOLS_ATTNC_SPEC_SPECMATCH_H

#include "tools/attnc/spec/SpecParser.h"

#include <nlohmann/json.hpp>

namespace attnc {

/// The first thing that a kernel whose canonical spec is `compiled` was
/// compiled for and `spec` does not say, as a message; nothing where the kernel
/// is the spec's. What is given at launch may be anything.
std::optional<std::string> findMismatch(const Spec &spec,
                                        const nlohmann::json &compiled);

/// Reads a spec file by the rules of attnc for a kernel of that canonical spec,
/// in JSON. Without errors the result is the complete spec.
std::string readMatchingSpec(std::string_view text, const std::string &fileName,
                             const std::string &compiled, Errors &errors);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_SPEC_SPECMATCH_H
