//===- SpecParser.h - From spec files and flags to a spec ----- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_SPEC_SPECPARSER_H
#define ATTN_TOOLS_ATTNC_SPEC_SPECPARSER_H

#include "tools/attnc/spec/SpecFields.h"

#include <string>
#include <string_view>
#include <vector>

namespace attnc {

/// Messages for the user, each naming the key at fault.
using Errors = std::vector<std::string>;

/// What was written, one value per row of specFields().
class SpecValues {
public:
  SpecValues() : values(specFields().size()) {}

  /// Reads one JSON object. Later values win, so flags come second.
  void readJSON(std::string_view text, const std::string &fileName,
                Errors &errors);
  /// Reads the text of one flag.
  void readFlag(const Field &field, const std::string &text, Errors &errors);
  /// Takes over a whole spec; its values are held to the same rules as written
  /// ones. What follows from another value is left to do so, and no fault
  /// twice.
  void readSpec(const Spec &spec, Errors &errors);

  const FieldValue &get(std::string_view name) const;
  bool has(std::string_view name) const { return isGiven(get(name)); }

  /// Fills in defaults and applies every rule between fields. Without errors
  /// the result is a valid spec, and every given value means something in it.
  Spec resolve(Errors &errors) const;

private:
  void set(const Field &field, FieldValue value, Errors &errors);

  std::vector<FieldValue> values;
};

/// The rules between fields, on values that are fine one by one: appends a
/// message for each breach. `spec` has its defaults filled in.
void checkRules(const SpecValues &values, const Spec &spec, Errors &errors);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_SPEC_SPECPARSER_H
