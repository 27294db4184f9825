//===- SpecFields.h - The table of spec fields ---------------- -*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// One row per field. Parsing, flags, --help, the JSON schema, suggestions for
// misspelt names and the canonical form all read this table, so a new field is
// one new row (and, where it restricts others, a rule in SpecRules.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNC_SPEC_SPECFIELDS_H
#define ATTN_TOOLS_ATTNC_SPEC_SPECFIELDS_H

#include "tools/attnc/spec/Spec.h"

#include <functional>
#include <string_view>
#include <variant>
#include <vector>

namespace attnc {

using TextMap = std::map<std::string, std::string>;

/// What a user wrote for one field; monostate where nothing.
using FieldValue =
    std::variant<std::monostate, bool, int64_t, double, std::string, TextMap>;

inline bool isGiven(const FieldValue &value) {
  return !std::holds_alternative<std::monostate>(value);
}

/// As it would stand in a spec file.
std::string printValue(const FieldValue &value);

enum class FieldType {
  Boolean,
  Integer,
  Number,
  Choice,
  /// An integer or one of the choices.
  IntegerOrChoice,
  Text,
  /// Names to texts.
  Map,
};

/// How a field enters the key of a compiled kernel.
enum class Baked {
  /// By its value.
  Static,
  /// By its value where it is given; else it is given at launch.
  Pinned,
  /// Only by being given; the value is given at launch.
  Presence,
  /// Never.
  Dynamic,
  /// Not by itself: the two head counts enter as their ratio.
  Group,
  /// 1, another integer, or auto.
  SplitClass,
};

struct Field {
  /// Dotted; a dot is one level of nesting in JSON.
  std::string name;
  FieldType type = FieldType::Text;
  Baked baked = Baked::Static;
  std::string summary;
  /// What an absent field means, for help; empty where it is required.
  std::string defaultText;
  bool required = false;
  std::vector<std::string> choices;
  /// Of integers.
  int64_t minimum = 0, maximum = 0, step = 1;
  /// More integers that are allowed, beyond the maximum.
  std::vector<int64_t> extra;

  std::function<FieldValue(const Spec &)> get;
  std::function<void(Spec &, const FieldValue &)> set;

  /// "head-dim-qk" for "head_dim_qk".
  std::string flag() const;
  /// "a multiple of 8 from 8 to 256", for messages and help.
  std::string describe() const;
  /// Why the field cannot have this value, or nothing. Numbers that are
  /// integers may stand for integers.
  std::optional<std::string> check(FieldValue &value) const;
};

const std::vector<Field> &specFields();

/// Null where there is none.
const Field *findField(std::string_view name);

/// The name nearest to `got`, where one is near enough to be meant.
std::optional<std::string> suggest(std::string_view got,
                                   const std::vector<std::string> &names);

/// "; did you mean 'x'?", or nothing.
std::string suggestion(std::string_view got,
                       const std::vector<std::string> &names);

/// The spelling of an enum value, as in the table.
const char *toString(Direction value);
const char *toString(DType value);
const char *toString(Layout value);
const char *toString(MaskKind value);
const char *toString(Alignment value);
const char *toString(Bias value);
const char *toString(KVKind value);
const char *toString(Descale value);

} // namespace attnc

#endif // ATTN_TOOLS_ATTNC_SPEC_SPECFIELDS_H
