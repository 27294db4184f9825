//===- SpecCanonical.h - One form, one hash, one name per kernel  -*- C++
//-*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_SPEC_SPECCANONICAL_H
#define ATTN_TOOLS_ATTNC_SPEC_SPECCANONICAL_H

#include "tools/attnc/spec/SpecFields.h"

#include <nlohmann/json.hpp>

namespace attnc {

/// What a compiled kernel depends on, defaults written out, keys sorted. The
/// value of anything given at launch stays out: only that there is one.
nlohmann::json canonicalSpec(const Spec &spec);

/// The whole spec, values given at launch included; parses back to itself.
nlohmann::json completeSpec(const Spec &spec);

/// 16 hexadecimal digits of the SHA-256 of the canonical form.
std::string specHash(const nlohmann::json &canonical);

/// A symbol that people can read, ended by the first 8 digits of the hash.
std::string kernelName(const Spec &spec, const std::string &hash);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_SPEC_SPECCANONICAL_H
