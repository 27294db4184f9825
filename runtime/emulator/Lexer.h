//===- Lexer.h - PTX text to tokens -----------------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_LEXER_H
#define ATTN_RUNTIME_EMULATOR_LEXER_H

#include <cstdint>
#include <string_view>

namespace attn::runtime::emulator::ptx {

struct Token {
  enum Kind : uint8_t {
    End,
    /// A name, with no dot in it: `%r1`, `add`, `$L__BB0_1`.
    Identifier,
    /// A dot and a name: `.s32`, `.shared::cta`. The text has no dot.
    Dotted,
    /// An integer literal; its value is in `integer`.
    Integer,
    /// A floating-point literal; the IEEE double is in `real`.
    Real,
    /// A `0f` literal; the 32 bits are in `integer`.
    Single,
    String,
    /// One character, in `text`.
    Punctuation,
    /// Something that is no token; `text` is where it starts.
    Invalid,
  };

  Kind kind = End;
  uint32_t line = 1;
  std::string_view text;
  uint64_t integer = 0;
  double real = 0;

  bool is(char c) const {
    return kind == Punctuation && text.size() == 1 && text[0] == c;
  }
};

/// Reads one token after the other; never fails, an unknown character is an
/// Invalid token. Comments and white space are skipped.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();

private:
  void skipBlank();
  Token number();
  Token make(Token::Kind kind, size_t begin) const;

  std::string_view text_;
  size_t position_ = 0;
  uint32_t line_ = 1;
};

} // namespace attn::runtime::emulator::ptx

#endif // ATTN_RUNTIME_EMULATOR_LEXER_H
