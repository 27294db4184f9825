//===- Json.h - Reading JSON without exceptions --------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_JSON_H
#define ATTN_RUNTIME_JSON_H

#include "runtime/Status.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace attn::runtime {

/// Keeps the order of keys: the order of a manifest's tensors means something.
using Json = nlohmann::ordered_json;

/// Parses one JSON value. A syntax error gives line and column; a key given
/// twice, a NUL, and more keys or nesting than any real file has are errors
/// too. `what` names the text in messages.
Expected<Json> parseJson(std::string_view text, const std::string &what);

/// The first 16 hexadecimal digits of the SHA-256 of the value's shortest text
/// with sorted keys: what identifies a spec and a build.
std::string hashJson(const Json &value);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_JSON_H
