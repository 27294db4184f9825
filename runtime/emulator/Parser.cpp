//===- Parser.cpp - PTX text to a syntax tree -----------------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recursive descent, one function a production. Every production returns
// false after fail(), which keeps the first error. Limits on counts, sizes and
// nesting keep hostile input from costing memory or stack.
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Parser.h"
#include "runtime/emulator/Lexer.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace attn::runtime;
using namespace attn::runtime::emulator::ptx;

namespace {

constexpr uint32_t maxScopes = 1 << 16;
constexpr uint32_t maxRegisters = 1 << 20;
constexpr uint64_t maxVariableBytes = uint64_t(1) << 30;
constexpr uint64_t maxInitializerBytes = 1 << 20;

/// Bytes of one element of a type that a variable may have; 0 if unknown.
uint32_t elementBytes(std::string_view type) {
  static constexpr struct {
    const char *name;
    uint32_t bytes;
  } table[] = {{"b8", 1},  {"u8", 1},  {"s8", 1},  {"b16", 2},
               {"u16", 2}, {"s16", 2}, {"f16", 2}, {"b32", 4},
               {"u32", 4}, {"s32", 4}, {"f32", 4}, {"b64", 8},
               {"u64", 8}, {"s64", 8}, {"f64", 8}, {"b128", 16}};
  for (const auto &entry : table)
    if (type == entry.name)
      return entry.bytes;
  return 0;
}

class Parser {
public:
  explicit Parser(std::string_view text)
      : text_(std::make_shared<const std::string>(text)), lexer_(*text_) {
    module_.text = text_;
    token_ = lexer_.next();
    ahead_ = lexer_.next();
  }

  Expected<Module> run() {
    if (!header())
      return Status::invalidArgument(error_);
    while (token_.kind != Token::End)
      if (!topLevel())
        return Status::invalidArgument(error_);
    return std::move(module_);
  }

private:
  // Tokens.
  void advance() {
    previous_ = token_;
    token_ = ahead_;
    ahead_ = lexer_.next();
  }
  bool fail(const std::string &message, uint32_t line = 0) {
    if (error_.empty())
      error_ = "ptx line " + std::to_string(line ? line : token_.line) + ": " +
               message;
    return false;
  }
  std::string found() const {
    if (token_.kind == Token::End)
      return "the end of the text";
    std::string dot = token_.kind == Token::Dotted ? "." : "";
    return "'" + dot + std::string(token_.text.substr(0, 40)) + "'";
  }
  bool expected(const char *what) {
    return fail(std::string("expected ") + what + ", but got " + found());
  }
  bool take(char c) {
    if (!token_.is(c))
      return false;
    advance();
    return true;
  }
  bool need(char c) {
    char text[] = {'\'', c, '\'', 0};
    return take(c) || expected(text);
  }
  bool takeDotted(std::string_view name) {
    if (token_.kind != Token::Dotted || token_.text != name)
      return false;
    advance();
    return true;
  }
  bool needInteger(uint64_t &value, uint64_t limit, const char *what) {
    if (token_.kind != Token::Integer)
      return expected(what);
    if (token_.integer > limit)
      return fail(std::string("expected ") + what + " of at most " +
                  std::to_string(limit) + ", but got " + found());
    value = token_.integer;
    advance();
    return true;
  }
  bool needName(std::string_view &name, const char *what) {
    if (token_.kind != Token::Identifier)
      return expected(what);
    name = token_.text;
    advance();
    return true;
  }

  bool header();
  bool version();
  bool target();
  bool topLevel();
  bool file();
  bool location();
  bool declareOnce(std::string_view name, uint32_t line);
  bool skipSection();
  bool pragma();
  bool variable(Space space, bool isExtern, std::vector<Variable> &into,
                uint32_t scope);
  bool initializer(Variable &variable, uint32_t element);
  bool function(bool isEntry);
  bool parameters(std::vector<Variable> &into);
  bool parameter(Variable &variable);
  bool functionDirectives(Function &function);
  bool triple(uint32_t (&values)[3]);
  bool body(Function &function);
  bool statement(Function &function, uint32_t scope);
  bool registers(Function &function, uint32_t scope);
  bool instruction(Function &function, uint32_t scope);
  bool operand(Operand &operand, unsigned depth);
  bool simpleOperand(Operand &operand);
  bool address(Operand &operand, unsigned depth);
  bool vectorOperand(Operand &operand, unsigned depth);
  bool branchTargets(Function &function, uint32_t scope, std::string_view name);

  std::shared_ptr<const std::string> text_;
  Lexer lexer_;
  Token token_, ahead_, previous_;
  Module module_;
  /// What the module's names are: true for a function.
  std::map<std::string_view, bool> names_;
  std::string error_;
};

/// The versions of the language, times 10, and the targets with the first that
/// has them: what ptxas 13.0 knows.
constexpr uint32_t versions[] = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30,
                                 31, 32, 40, 41, 42, 43, 50, 51, 60, 61, 62,
                                 63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77,
                                 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};
constexpr struct {
  const char *name;
  uint32_t version;
} targets[] = {
    {"sm_50", 40},   {"sm_52", 41},   {"sm_53", 42},   {"sm_60", 50},
    {"sm_61", 50},   {"sm_62", 50},   {"sm_70", 60},   {"sm_72", 61},
    {"sm_75", 63},   {"sm_80", 70},   {"sm_86", 71},   {"sm_87", 74},
    {"sm_88", 74},   {"sm_89", 78},   {"sm_90", 78},   {"sm_90a", 80},
    {"sm_100", 86},  {"sm_100a", 86}, {"sm_100f", 88}, {"sm_103", 88},
    {"sm_103a", 88}, {"sm_103f", 88}, {"sm_110", 90},  {"sm_110a", 90},
    {"sm_110f", 90}, {"sm_120", 87},  {"sm_120a", 87}, {"sm_120f", 88},
    {"sm_121", 88},  {"sm_121a", 88}, {"sm_121f", 88},
};

/// `.version 8.6`, then `.target sm_90a`, then perhaps `.address_size 64`.
bool Parser::header() {
  for (char c : *text_)
    if (static_cast<unsigned char>(c) > 127)
      return fail("expected nothing but ASCII");
  if (!takeDotted("version"))
    return expected("a .version directive");
  if (!version())
    return false;
  if (!takeDotted("target"))
    return expected("a .target directive");
  if (!target())
    return false;
  uint64_t bits = 64;
  if (takeDotted("address_size") && !needInteger(bits, 64, "an address size"))
    return false;
  return bits == 64 || fail("expected .address_size 64");
}

bool Parser::version() {
  bool isNumber = token_.kind == Token::Real && token_.text.size() == 3;
  uint32_t value = isNumber ? static_cast<uint32_t>(token_.real * 10 + 0.5) : 0;
  if (std::find(std::begin(versions), std::end(versions), value) ==
      std::end(versions))
    return expected("a version from 1.0 to 9.0, such as 8.6");
  module_.version = value;
  advance();
  return true;
}

bool Parser::target() {
  if (!needName(module_.target, "a target"))
    return false;
  for (const auto &entry : targets) {
    if (module_.target != entry.name)
      continue;
    if (module_.version < entry.version)
      return fail("expected a .version of at least " +
                  std::to_string(entry.version / 10) + "." +
                  std::to_string(entry.version % 10) + " for target '" +
                  entry.name + "'");
    std::string_view option;
    while (take(','))
      if (!needName(option, "a target option"))
        return false;
      else if (option != "texmode_independent" && option != "texmode_unified" &&
               option != "map_f64_to_f32" && option != "debug")
        return fail("unknown target option '" + std::string(option) + "'");
    return true;
  }
  return fail("unknown target '" + std::string(module_.target) + "'");
}

/// `.file 1 "a.c"`, perhaps with a time stamp and a size.
bool Parser::file() {
  uint64_t ignored = 0;
  if (!needInteger(ignored, UINT32_MAX, "a file index"))
    return false;
  if (token_.kind != Token::String)
    return expected("a string");
  advance();
  for (unsigned i = 0; i < 2 && take(','); ++i)
    if (!needInteger(ignored, UINT64_MAX, "a number"))
      return false;
  return true;
}

/// `.loc 1 5 0`, perhaps `, function_name L, inlined_at 1 2 3`.
bool Parser::location() {
  uint64_t ignored = 0;
  for (unsigned i = 0; i < 3; ++i)
    if (!needInteger(ignored, UINT32_MAX, "a number"))
      return false;
  if (!take(','))
    return true;
  std::string_view name;
  if (!needName(name, "'function_name'") || !needName(name, "a label"))
    return false;
  uint64_t offset = 0;
  if (take('+') && !needInteger(offset, UINT32_MAX, "an offset"))
    return false;
  if (!need(',') || !needName(name, "'inlined_at'"))
    return false;
  for (unsigned i = 0; i < 3; ++i)
    if (!needInteger(ignored, UINT32_MAX, "a number"))
      return false;
  return true;
}

/// `.section .debug_x { ... }`: no part of the program.
bool Parser::skipSection() {
  if (token_.kind != Token::Dotted)
    return expected("the name of a section");
  advance();
  if (!need('{'))
    return false;
  while (token_.kind != Token::End && !token_.is('}'))
    advance();
  return need('}');
}

/// `"nounroll";`: all that PTX has are hints to an assembler.
bool Parser::pragma() {
  if (token_.kind != Token::String)
    return expected("a string");
  advance();
  return need(';');
}

/// A name of the module: functions may be declared before they are defined.
bool Parser::declareOnce(std::string_view name, uint32_t line) {
  return names_.emplace(name, false).second ||
         fail("'" + std::string(name) + "' is declared twice", line);
}

bool Parser::topLevel() {
  if (token_.kind != Token::Dotted)
    return expected("a directive");
  if (takeDotted("file"))
    return file();
  if (takeDotted("section"))
    return skipSection();
  if (takeDotted("pragma"))
    return pragma();
  bool isExtern = takeDotted("extern");
  if (!isExtern && !takeDotted("visible") && !takeDotted("weak"))
    takeDotted("common");
  if (takeDotted("entry"))
    return isExtern ? fail("expected no .extern before an entry")
                    : function(true);
  if (takeDotted("func"))
    return function(false);
  static constexpr struct {
    const char *name;
    Space space;
  } spaces[] = {{"global", Space::Global},
                {"shared", Space::Shared},
                {"const", Space::Const}};
  for (const auto &entry : spaces)
    if (takeDotted(entry.name))
      return variable(entry.space, isExtern, module_.variables, 0);
  return fail("unknown directive " + found());
}

/// `.align 16 .b8 name[64] = {1, 2};` after the space.
bool Parser::variable(Space space, bool isExtern, std::vector<Variable> &into,
                      uint32_t scope) {
  Variable result;
  result.space = space;
  result.scope = scope;
  result.line = token_.line;
  result.isExtern = isExtern;
  while (token_.kind == Token::Dotted && !elementBytes(token_.text)) {
    if (takeDotted("align")) {
      uint64_t alignment = 0;
      if (!needInteger(alignment, 1 << 16, "an alignment"))
        return false;
      result.alignment = static_cast<uint32_t>(alignment);
      if (!alignment || (alignment & (alignment - 1)))
        return fail("expected an alignment that is a power of two");
    } else if (!takeDotted("attribute") && !takeDotted("v2") &&
               !takeDotted("v4")) {
      return fail("unknown variable attribute " + found());
    } else if (previous_.text != "attribute") {
      return fail("vector variables are not supported");
    } else {
      if (!need('(') || (!takeDotted("managed") && !takeDotted("unified")))
        return expected("an attribute");
      uint64_t ignored = 0;
      if (take('('))
        do
          if (!needInteger(ignored, UINT64_MAX, "a number"))
            return false;
        while (take(','));
      if (previous_.kind == Token::Integer && !need(')'))
        return false;
      if (!need(')'))
        return false;
    }
  }
  result.type = token_.text;
  uint32_t element = elementBytes(token_.text);
  if (token_.kind != Token::Dotted || !element)
    return expected("a type");
  advance();
  if (!needName(result.name, "a variable name"))
    return false;
  if (!scope && !result.name.empty() && &into == &module_.variables &&
      !declareOnce(result.name, result.line))
    return false;
  uint64_t bytes = element;
  bool isArray = token_.is('['), isComplete = true;
  while (take('[')) {
    uint64_t count = 0;
    if (token_.is(']'))
      isComplete = false;
    else if (!needInteger(count, maxVariableBytes, "an array size"))
      return false;
    if (__builtin_mul_overflow(bytes, count, &bytes) ||
        bytes > maxVariableBytes)
      return fail("variable is too large");
    if (!need(']'))
      return false;
  }
  result.bytes = bytes;
  if (!bytes && isComplete)
    return fail("expected a size of variable '" + std::string(result.name) +
                "'");
  if (!isComplete && !isExtern)
    return fail("expected .extern or a size of variable '" +
                std::string(result.name) + "'");
  if (isExtern && space != Space::Shared)
    return fail("extern variable '" + std::string(result.name) +
                "' is nowhere");
  if (!result.alignment)
    result.alignment = element;
  if (token_.is('=') &&
      (isExtern || (space != Space::Global && space != Space::Const)))
    return fail("unexpected initial value of '" + std::string(result.name) +
                "'");
  if (take('=') &&
      (isArray != token_.is('{') ? !expected(isArray ? "'{'" : "a number")
                                 : !initializer(result, element)))
    return false;
  into.push_back(std::move(result));
  return need(';');
}

bool Parser::initializer(Variable &variable, uint32_t element) {
  bool braces = take('{');
  do {
    bool negative = take('-');
    uint64_t bits = token_.integer;
    bool isFloat = variable.type == "f32" || variable.type == "f64";
    if (isFloat == (token_.kind == Token::Integer))
      return expected("a number of the variable's type");
    if (token_.kind == Token::Real && element == 4) {
      float narrow = static_cast<float>(token_.real);
      uint32_t word = 0;
      std::memcpy(&word, &narrow, sizeof word);
      bits = word;
    } else if (token_.kind == Token::Real) {
      std::memcpy(&bits, &token_.real, sizeof bits);
    } else if (token_.kind != Token::Integer && token_.kind != Token::Single) {
      return expected("a number (symbols in initializers are not supported)");
    }
    if (negative)
      bits = -bits;
    advance();
    for (uint32_t i = 0; i < element; ++i)
      variable.initializer.push_back(
          i < 8 ? static_cast<uint8_t>(bits >> (8 * i)) : 0);
    if (variable.initializer.size() > maxInitializerBytes)
      return fail("initializer is too large");
  } while (braces && take(','));
  if (variable.initializer.size() > variable.bytes)
    return fail("initializer is larger than the variable");
  return !braces || need('}');
}

/// `.param .align 64 .b8 name[128]` or `.param .u64 .ptr .global .align 1
/// name`.
bool Parser::parameter(Variable &result) {
  result.space = Space::Param;
  result.line = token_.line;
  if (!takeDotted("param"))
    return expected("'.param'");
  uint32_t element = 0;
  bool pointee = false;
  while (token_.kind == Token::Dotted) {
    if (uint32_t bytes = elementBytes(token_.text)) {
      element = bytes;
      result.type = token_.text;
      advance();
    } else if (takeDotted("align")) {
      uint64_t alignment = 0;
      if (!needInteger(alignment, 1 << 16, "an alignment"))
        return false;
      if (!alignment || (alignment & (alignment - 1)))
        return fail("expected an alignment that is a power of two");
      // The alignment after .ptr is that of what the pointer points at.
      if (!pointee)
        result.alignment = static_cast<uint32_t>(alignment);
    } else if (takeDotted("ptr")) {
      pointee = true;
    } else if (!takeDotted("global") && !takeDotted("shared") &&
               !takeDotted("const") && !takeDotted("local")) {
      return fail("unknown parameter attribute " + found());
    }
  }
  if (!element)
    return expected("a parameter type");
  if (!needName(result.name, "a parameter name"))
    return false;
  result.bytes = element;
  if (take('[')) {
    uint64_t count = 0;
    if (!needInteger(count, 1 << 16, "an array size") || !need(']'))
      return false;
    result.bytes = element * count;
    if (!count)
      return fail("expected a size of parameter '" + std::string(result.name) +
                  "'");
  }
  if (!result.alignment)
    result.alignment = element;
  return true;
}

bool Parser::parameters(std::vector<Variable> &into) {
  if (!take('('))
    return true;
  if (take(')'))
    return true;
  do {
    Variable variable;
    if (!parameter(variable))
      return false;
    into.push_back(std::move(variable));
  } while (take(','));
  return need(')');
}

bool Parser::triple(uint32_t (&values)[3]) {
  for (unsigned i = 0; i < 3; ++i) {
    values[i] = 1;
    if (i && !take(','))
      continue;
    uint64_t value = 0;
    if (!needInteger(value, 1 << 16, "a size"))
      return false;
    if (!value)
      return fail("expected a size above 0");
    values[i] = static_cast<uint32_t>(value);
  }
  return true;
}

bool Parser::functionDirectives(Function &function) {
  bool hasRank = false;
  while (token_.kind == Token::Dotted) {
    uint64_t value = 0;
    if (takeDotted("maxntid")) {
      if (!triple(function.maxThreads))
        return false;
    } else if (takeDotted("reqntid")) {
      if (!triple(function.requiredThreads))
        return false;
    } else if (takeDotted("reqnctapercluster")) {
      if (!triple(function.clusterSize))
        return false;
    } else if (takeDotted("minnctapersm")) {
      if (!needInteger(value, 64, "a block count"))
        return false;
      function.minBlocksPerMultiprocessor = static_cast<uint32_t>(value);
    } else if (takeDotted("maxnreg")) {
      if (!needInteger(value, 255, "a register count"))
        return false;
      function.maxRegisters = static_cast<uint32_t>(value);
      if (!value)
        return fail("expected a register count above 0");
    } else if (takeDotted("maxclusterrank")) {
      if (!needInteger(value, 64, "a cluster rank"))
        return false;
      hasRank = true;
    } else if (takeDotted("pragma")) {
      if (!pragma())
        return false;
    } else if (!(takeDotted("noreturn") && !function.isEntry) &&
               !takeDotted("explicitcluster")) {
      return fail("unknown function directive " + found());
    }
  }
  if (function.maxThreads[0] && function.requiredThreads[0])
    return fail("expected .maxntid or .reqntid, but got both");
  if (function.clusterSize[0] && hasRank)
    return fail("expected .reqnctapercluster or .maxclusterrank, but got both");
  bool hasClusters = architectureOf(module_.target) >= 90;
  return hasClusters || !(function.clusterSize[0] || hasRank) ||
         fail("clusters need target sm_90 or later");
}

bool Parser::function(bool isEntry) {
  Function result;
  result.isEntry = isEntry;
  result.line = token_.line;
  std::vector<Variable> returns;
  if (!isEntry && !parameters(returns))
    return false;
  if (!needName(result.name, "a function name") ||
      !parameters(result.parameters) || !functionDirectives(result))
    return false;
  if (isEntry && !token_.is('{'))
    return expected("'{'");
  if (names_.emplace(result.name, true).second == false && !names_[result.name])
    return fail("'" + std::string(result.name) + "' is declared twice");
  if (token_.is('{')) {
    result.hasBody = true;
    if (!body(result))
      return false;
  } else if (!need(';')) {
    return false;
  }
  module_.functions.push_back(std::move(result));
  return true;
}

/// Blocks nest; the loop keeps its own stack, so that deep nesting in the text
/// is not deep recursion here.
bool Parser::body(Function &function) {
  if (!need('{'))
    return false;
  function.scopes.push_back(0);
  std::vector<uint32_t> stack = {0};
  while (!stack.empty()) {
    if (take('}')) {
      stack.pop_back();
    } else if (take('{')) {
      if (function.scopes.size() >= maxScopes)
        return fail("too many nested blocks");
      function.scopes.push_back(stack.back());
      stack.push_back(static_cast<uint32_t>(function.scopes.size() - 1));
    } else if (token_.kind == Token::End) {
      return expected("'}'");
    } else if (!statement(function, stack.back())) {
      return false;
    }
  }
  return true;
}

bool Parser::statement(Function &function, uint32_t scope) {
  if (token_.kind == Token::Dotted) {
    if (takeDotted("loc"))
      return location();
    if (takeDotted("reg"))
      return registers(function, scope);
    if (takeDotted("local"))
      return variable(Space::Local, false, function.variables, scope);
    if (takeDotted("shared"))
      return variable(Space::Shared, false, function.variables, scope);
    if (takeDotted("pragma"))
      return pragma();
    return fail("unknown directive " + found());
  }
  if (token_.kind == Token::Identifier && ahead_.is(':')) {
    std::string_view name = token_.text;
    uint32_t line = token_.line;
    advance();
    advance();
    if (takeDotted("branchtargets"))
      return branchTargets(function, scope, name);
    function.labels.push_back(
        {name, scope, line, static_cast<uint32_t>(function.body.size())});
    return true;
  }
  return instruction(function, scope);
}

bool Parser::branchTargets(Function &function, uint32_t scope,
                           std::string_view name) {
  BranchTargets result;
  result.name = name;
  result.scope = scope;
  result.index = static_cast<uint32_t>(function.body.size());
  do {
    std::string_view label;
    if (!needName(label, "a label"))
      return false;
    result.labels.push_back(label);
  } while (take(','));
  function.branchTargets.push_back(std::move(result));
  return need(';');
}

bool Parser::registers(Function &function, uint32_t scope) {
  if (token_.kind != Token::Dotted)
    return expected("a register type");
  std::string_view type = token_.text;
  advance();
  do {
    Register result;
    result.type = type;
    result.scope = scope;
    result.line = token_.line;
    if (!needName(result.name, "a register name"))
      return false;
    if (result.name == "_")
      return fail("expected a register name, but got '_'");
    if (take('<')) {
      uint64_t count = 0;
      if (!needInteger(count, maxRegisters, "a register count") || !need('>'))
        return false;
      result.count = static_cast<uint32_t>(count);
      if (!count)
        continue;
    }
    function.registers.push_back(result);
  } while (take(','));
  return need(';');
}

bool Parser::instruction(Function &function, uint32_t scope) {
  Instruction result;
  result.line = token_.line;
  result.scope = scope;
  const char *begin = token_.text.data();
  if (take('@')) {
    result.guardNegated = take('!');
    if (!needName(result.guard, "a predicate"))
      return false;
  }
  if (!needName(result.opcode, "an instruction"))
    return false;
  while (token_.kind == Token::Dotted) {
    result.modifiers.push_back(token_.text);
    advance();
  }
  while (!token_.is(';')) {
    if (!result.operands.empty() && !need(','))
      return false;
    Operand operand;
    if (!this->operand(operand, 0))
      return false;
    result.operands.push_back(std::move(operand));
  }
  const char *end = token_.text.data();
  result.text = std::string_view(begin, static_cast<size_t>(end - begin));
  function.body.push_back(std::move(result));
  return need(';');
}

bool Parser::simpleOperand(Operand &operand) {
  bool minus = take('-');
  switch (token_.kind) {
  case Token::Identifier:
    if (minus)
      return expected("a number after '-'");
    operand.kind = Operand::Name;
    operand.name = token_.text;
    advance();
    // %tid.x is one name.
    if (operand.name[0] == '%' && token_.kind == Token::Dotted &&
        token_.text.data() == operand.name.data() + operand.name.size() + 1) {
      operand.name = std::string_view(
          operand.name.data(), operand.name.size() + 1 + token_.text.size());
      advance();
    }
    return true;
  case Token::Integer:
    operand.kind = Operand::Integer;
    operand.integer = minus ? -token_.integer : token_.integer;
    advance();
    return true;
  case Token::Real:
    operand.kind = Operand::Real;
    operand.real = minus ? -token_.real : token_.real;
    advance();
    return true;
  case Token::Single:
    if (minus)
      return expected("a number after '-'");
    operand.kind = Operand::Single;
    operand.integer = token_.integer;
    advance();
    return true;
  default:
    return expected("an operand");
  }
}

bool Parser::vectorOperand(Operand &operand, unsigned depth) {
  operand.kind = Operand::Vector;
  do {
    Operand element;
    if (!this->operand(element, depth + 1))
      return false;
    operand.elements.push_back(std::move(element));
  } while (take(','));
  return need('}');
}

/// `[base]`, `[base+8]`, `[base+-8]`, `[map, {x, y}]`.
bool Parser::address(Operand &operand, unsigned depth) {
  operand.kind = Operand::Address;
  Operand base;
  if (!simpleOperand(base))
    return false;
  operand.elements.push_back(std::move(base));
  if (take('+')) {
    bool negative = take('-');
    uint64_t offset = 0;
    if (!needInteger(offset, uint64_t(1) << 62, "an offset"))
      return false;
    operand.offset =
        negative ? -static_cast<int64_t>(offset) : static_cast<int64_t>(offset);
  }
  while (take(',')) {
    Operand more;
    if (!this->operand(more, depth + 1))
      return false;
    operand.elements.push_back(std::move(more));
  }
  return need(']');
}

bool Parser::operand(Operand &operand, unsigned depth) {
  if (depth > 4)
    return fail("operands are nested too deeply");
  if (take('{'))
    return vectorOperand(operand, depth);
  if (take('['))
    return address(operand, depth);
  if (take('!'))
    operand.negated = true;
  if (!simpleOperand(operand))
    return false;
  if (take('|')) {
    Operand first = std::move(operand), second;
    if (!simpleOperand(second))
      return false;
    operand = Operand();
    operand.kind = Operand::Pair;
    operand.elements.push_back(std::move(first));
    operand.elements.push_back(std::move(second));
  }
  return true;
}

} // namespace

unsigned attn::runtime::emulator::ptx::architectureOf(std::string_view target) {
  unsigned number = 0;
  for (char c : target.substr(std::min(target.find('_') + 1, target.size()))) {
    if (c < '0' || c > '9' || number > 1000)
      break;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number;
}

Expected<Module> attn::runtime::emulator::ptx::parse(std::string_view text) {
  return Parser(text).run();
}
