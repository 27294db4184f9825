//===- Ptx.h - A PTX module as it is written --------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The syntax tree: what the parser saw, with lines, and no meaning yet. Every
// string_view points into the text that Module owns.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_PTX_H
#define ATTN_RUNTIME_EMULATOR_PTX_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attn::runtime::emulator::ptx {

enum class Space : uint8_t { None, Global, Shared, Local, Const, Param };

struct Operand {
  enum Kind : uint8_t {
    /// A register, a variable or a label: `name`.
    Name,
    Integer,
    /// A double; `real`.
    Real,
    /// The bits of a float; `integer`.
    Single,
    /// `{a, b, ...}`: `elements`.
    Vector,
    /// `[base + offset, more...]`: elements[0] is the base.
    Address,
    /// `a|b`: two elements.
    Pair,
  };

  Kind kind = Integer;
  /// `!p` or a negated immediate register.
  bool negated = false;
  std::string_view name;
  uint64_t integer = 0;
  double real = 0;
  int64_t offset = 0;
  std::vector<Operand> elements;
};

struct Instruction {
  uint32_t line = 0;
  /// Index into Function::scopes.
  uint32_t scope = 0;
  std::string_view guard;
  bool guardNegated = false;
  /// `mbarrier`, and its modifiers without dots.
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  /// The source, for messages.
  std::string_view text;
};

struct Label {
  std::string_view name;
  uint32_t scope = 0;
  uint32_t line = 0;
  /// Index of the instruction that follows.
  uint32_t target = 0;
};

struct Register {
  std::string_view type;
  std::string_view name;
  uint32_t scope = 0;
  uint32_t line = 0;
  /// `%r<n>` declares %r0 to %r(n-1); 0 for a plain name.
  uint32_t count = 0;
};

/// A variable in memory, or a kernel parameter.
struct Variable {
  Space space = Space::None;
  std::string_view type;
  std::string_view name;
  uint32_t scope = 0;
  uint32_t line = 0;
  uint32_t alignment = 0;
  uint64_t bytes = 0;
  /// `.extern` or without a size: dynamic shared memory.
  bool isExtern = false;
  std::vector<uint8_t> initializer;
};

/// `name: .branchtargets a, b;`
struct BranchTargets {
  std::string_view name;
  /// Of the instruction that follows.
  uint32_t index = 0;
  uint32_t scope = 0;
  std::vector<std::string_view> labels;
};

struct Function {
  std::string_view name;
  uint32_t line = 0;
  bool isEntry = false;
  bool hasBody = false;
  std::vector<Variable> parameters;
  uint32_t maxThreads[3] = {0, 0, 0};
  uint32_t requiredThreads[3] = {0, 0, 0};
  uint32_t clusterSize[3] = {0, 0, 0};
  uint32_t minBlocksPerMultiprocessor = 0;
  uint32_t maxRegisters = 0;

  /// Parent of each scope; scope 0 is the body.
  std::vector<uint32_t> scopes;
  std::vector<Register> registers;
  std::vector<Variable> variables;
  std::vector<Label> labels;
  std::vector<BranchTargets> branchTargets;
  std::vector<Instruction> body;
};

struct Module {
  /// Keeps the text that everything points into.
  std::shared_ptr<const std::string> text;
  /// 86 for `.version 8.6`.
  uint32_t version = 0;
  std::string_view target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

} // namespace attn::runtime::emulator::ptx

#endif // ATTN_RUNTIME_EMULATOR_PTX_H
