//===- Seal.h - The hashes of a manifest under test ----------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_SEAL_H
#define ATTN_TEST_RUNTIME_SEAL_H

#include "runtime/Json.h"
#include "runtime/Sha256.h"

#include <string>

namespace attn::runtime::test {

/// The manifest with @SPEC@, @BUILD@ and @PTX@ replaced by the hashes that its
/// content and this image have, so that tests may change either. A text that is
/// no JSON stays as it is.
inline std::string seal(std::string text, std::string_view image) {
  Expected<Json> root = parseJson(text, "manifest");
  if (!root || !root->is_object())
    return text;
  auto get = [&](const char *key) { return root->value(key, Json()); };
  Json build = {{"compiler", get("compiler")},
                {"schedule", get("schedule")},
                {"spec", get("spec")}};
  for (auto [mark, hash] : {std::make_pair("@SPEC@", hashJson(get("spec"))),
                            std::make_pair("@BUILD@", hashJson(build)),
                            std::make_pair("@PTX@", sha256(image))})
    if (size_t at = text.find(mark); at != std::string::npos)
      text.replace(at, std::string(mark).size(), hash);
  return text;
}

} // namespace attn::runtime::test

#endif // ATTN_TEST_RUNTIME_SEAL_H
