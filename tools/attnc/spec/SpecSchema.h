//===- SpecSchema.h - The JSON schema of spec files ----------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_SPEC_SPECSCHEMA_H
#define ATTN_TOOLS_ATTNC_SPEC_SPECSCHEMA_H

#include <string>

namespace attnc {

/// JSON schema (draft 2020-12) of a spec file, from the table that parses. A
/// published copy lies in spec.schema.json; a test compares the two.
std::string specSchema();

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_SPEC_SPECSCHEMA_H
