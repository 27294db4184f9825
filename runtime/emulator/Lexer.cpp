//===- Lexer.cpp - PTX text to tokens -------------------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Lexer.h"

#include <charconv>
#include <cstring>
#include <string>

using namespace attn::runtime::emulator::ptx;

// Locale-free: the C library's classification is not.
static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}
static bool isName(char c) { return isNameStart(c) || isDigit(c); }

static int digitValue(char c) {
  if (isDigit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 16;
}

void Lexer::skipBlank() {
  while (position_ < text_.size()) {
    char c = text_[position_];
    if (c == '\n') {
      ++line_;
      ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (text_.substr(position_, 2) == "/*") {
      size_t end = text_.find("*/", position_ + 2);
      // One that is never closed is no token.
      if (end == std::string_view::npos)
        return;
      size_t stop = end + 2;
      for (; position_ < stop; ++position_)
        line_ += text_[position_] == '\n';
    } else {
      return;
    }
  }
}

Token Lexer::make(Token::Kind kind, size_t begin) const {
  Token token;
  token.kind = kind;
  token.line = line_;
  token.text = text_.substr(begin, position_ - begin);
  return token;
}

/// Integers in the four radixes with an optional U, `0f` and `0d` bit patterns,
/// and decimal floating-point literals.
Token Lexer::number() {
  size_t begin = position_;
  auto peek = [&](size_t ahead) {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  };
  char second = peek(1);
  if (peek(0) == '0' && second && std::strchr("fFdD", second)) {
    bool single = second == 'f' || second == 'F';
    size_t digits = single ? 8 : 16;
    uint64_t bits = 0;
    position_ += 2;
    size_t count = 0;
    for (; digitValue(peek(0)) < 16; ++position_, ++count)
      bits = bits << 4 | static_cast<uint64_t>(digitValue(peek(0)));
    Token token = make(single ? Token::Single : Token::Real, begin);
    if (count != digits)
      token.kind = Token::Invalid;
    token.integer = bits;
    std::memcpy(&token.real, &bits, sizeof bits);
    return token;
  }
  int radix = 10;
  if (peek(0) == '0') {
    if (second == 'x' || second == 'X')
      radix = 16, position_ += 2;
    else if (second == 'b' || second == 'B')
      radix = 2, position_ += 2;
    else if (isDigit(second))
      radix = 8, ++position_;
  }
  uint64_t value = 0;
  bool overflow = false;
  size_t digits = position_;
  for (; digitValue(peek(0)) < radix; ++position_) {
    overflow |= __builtin_mul_overflow(value, uint64_t(radix), &value);
    overflow |=
        __builtin_add_overflow(value, uint64_t(digitValue(peek(0))), &value);
  }
  bool empty = position_ == digits && radix != 10 && radix != 8;
  bool real = radix == 10 && ((peek(0) == '.' && isDigit(peek(1))) ||
                              peek(0) == 'e' || peek(0) == 'E');
  if (real) {
    while (isDigit(peek(0)) || peek(0) == '.')
      ++position_;
    bool bad = false;
    if (peek(0) == 'e' || peek(0) == 'E') {
      ++position_;
      if (peek(0) == '+' || peek(0) == '-')
        ++position_;
      bad = !isDigit(peek(0));
      while (isDigit(peek(0)))
        ++position_;
    }
    Token token = make(bad ? Token::Invalid : Token::Real, begin);
    // Not strtod, which takes the process's locale for its own.
    const char *last = token.text.data() + token.text.size();
    auto [end, code] = std::from_chars(token.text.data(), last, token.real);
    if (code != std::errc() || end != last)
      token.kind = Token::Invalid;
    return token;
  }
  if (peek(0) == 'U')
    ++position_;
  bool bad = overflow || empty || isName(peek(0));
  while (isName(peek(0)))
    ++position_;
  Token token = make(bad ? Token::Invalid : Token::Integer, begin);
  token.integer = value;
  return token;
}

Token Lexer::next() {
  skipBlank();
  size_t begin = position_;
  if (position_ >= text_.size())
    return make(Token::End, begin);
  char c = text_[position_];
  if (text_.substr(position_, 2) == "/*") {
    position_ = text_.size();
    return make(Token::Invalid, begin);
  }
  if (isDigit(c))
    return number();
  if (isNameStart(c)) {
    while (position_ < text_.size() && isName(text_[position_]))
      ++position_;
    bool bad = c == '%' && position_ == begin + 1;
    return make(bad ? Token::Invalid : Token::Identifier, begin);
  }
  if (c == '.' && position_ + 1 < text_.size() &&
      isName(text_[position_ + 1])) {
    ++position_;
    while (position_ < text_.size()) {
      if (isName(text_[position_]))
        ++position_;
      else if (text_.substr(position_, 2) == "::")
        position_ += 2;
      else
        break;
    }
    return make(Token::Dotted, begin + 1);
  }
  if (c == '"') {
    size_t end = text_.find_first_of("\"\n", position_ + 1);
    bool closed = end != std::string_view::npos && text_[end] == '"';
    position_ = closed ? end + 1 : std::min(end, text_.size());
    return make(closed ? Token::String : Token::Invalid, begin);
  }
  ++position_;
  bool known = std::strchr("{}[]()<>,;:@!|+-=&*", c) != nullptr;
  return make(known ? Token::Punctuation : Token::Invalid, begin);
}
