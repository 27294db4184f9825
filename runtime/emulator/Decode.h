//===- Decode.h - From the syntax tree to a Program -------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An instruction is one entry of an opcode table: its name and a decode
// function, which eats the modifiers one by one, pushes the operands in order
// and sets Inst::execute. What it leaves over is an error that names it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_DECODE_H
#define ATTN_RUNTIME_EMULATOR_DECODE_H

#include "runtime/Status.h"
#include "runtime/emulator/Program.h"

#include <initializer_list>
#include <map>
#include <unordered_map>

namespace attn::runtime::emulator {

/// A module variable's place in its space.
struct Symbol {
  ptx::Space space = ptx::Space::None;
  uint64_t address = 0;
};

using SymbolTable = std::map<std::string_view, Symbol>;

class Decoder;

/// For messages: 'text', the beginning of a long one.
inline std::string quote(std::string_view text) {
  return "'" + std::string(text.substr(0, 60)) + "'";
}

struct Opcode {
  const char *name;
  InstClass cls;
  bool (*decode)(Decoder &, Inst &);
};

/// The families; each is defined in the file of its name.
struct OpcodeTable {
  const Opcode *begin;
  size_t size;
};
OpcodeTable integerOpcodes();
OpcodeTable floatOpcodes();
OpcodeTable moveOpcodes();
OpcodeTable convertOpcodes();
OpcodeTable controlOpcodes();
OpcodeTable loadStoreOpcodes();
OpcodeTable atomicOpcodes();
OpcodeTable warpOpcodes();
OpcodeTable barrierOpcodes();
OpcodeTable asyncCopyOpcodes();
OpcodeTable matrixOpcodes();
OpcodeTable wgmmaOpcodes();
Opcode mbarrierOpcode();

/// Decodes one kernel. `symbols` holds the module's variables.
Expected<std::shared_ptr<Program>> decode(const ptx::Module &module,
                                          const ptx::Function &function,
                                          const SymbolTable &symbols);

/// What a decode function works with.
class Decoder {
public:
  // Modifiers, in order.
  bool take(std::string_view modifier);
  /// The index of the one that was taken, or -1.
  int takeOneOf(std::initializer_list<std::string_view> modifiers);
  bool need(std::string_view modifier);
  bool takeType(Type &type);
  bool needType(Type &type, std::initializer_list<Type> allowed = {});
  std::string_view peek() const;
  std::string_view nextModifier();
  bool atEnd() const { return modifier_ == ast_->modifiers.size(); }

  // Operands, in order; each pushes onto Inst::operands.
  size_t remaining() const;
  const ptx::Operand *peekOperand() const;
  bool destination(Type type, bool wider = false);
  bool source(Type type, bool wider = false);
  bool predicateDestination();
  bool predicateSource();
  /// A predicate if the operand is one, else a value.
  bool predicateOrSource(Type type);
  /// Pushes an optional predicate: Sink where there is none.
  bool pair(Type type);
  bool isRegister(const ptx::Operand &operand);
  bool isVariableOf(const ptx::Operand &operand, ptx::Space space);
  /// Fails unless the next operand is one, with a second result to write.
  bool needPair();
  /// `{a, b}` or `a`; pushes `count` operands.
  bool destinations(Type type, unsigned count, bool wider = false);
  bool sources(Type type, unsigned count, bool wider = false);
  /// Fails unless the next operand is in braces.
  bool needVector();
  /// In the instruction's space, or in one that the operand has of its own.
  bool address();
  bool address(ptx::Space space);
  /// An address with the vector after it: `[map, {x, y}]`.
  bool tensorAddress(unsigned coordinates);
  /// Whether the operand that was pushed at `index` is declared with 16 bits.
  bool isHalfRegister(size_t index) const;
  /// Accepts the next operand without pushing anything.
  bool skipOperand();
  /// A cache policy: a 64-bit register whose value is never looked at.
  bool policy();
  /// An immediate operand is one of these; what a register holds, only the
  /// launch knows.
  bool checkImmediate(size_t index, int64_t low, int64_t high,
                      int64_t multiple = 1);
  bool immediate(int64_t &value, int64_t low, int64_t high);
  bool label(uint32_t &target);
  bool labels(std::vector<uint32_t> &targets);

  /// An error unless the module's target has the instruction: `sm` or later,
  /// or just the one `architecture` (sm_90a).
  bool needTarget(unsigned sm);
  bool needArchitecture(std::string_view architecture);

  bool fail(const std::string &message);
  /// Everything used up?
  bool finish();
  const ptx::Instruction &ast() const { return *ast_; }
  const std::string &error() const { return error_; }

private:
  friend Expected<std::shared_ptr<Program>>
  decode(const ptx::Module &, const ptx::Function &, const SymbolTable &);

  struct RegisterInfo {
    Type type;
    uint32_t slot;
    uint32_t count;
  };
  struct Scope {
    std::unordered_map<std::string_view, RegisterInfo> registers;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, Symbol> variables;
    std::unordered_map<std::string_view, const ptx::BranchTargets *> targets;
  };

  Decoder(const ptx::Module &module, const ptx::Function &function,
          const SymbolTable &symbols);

  bool declare();
  bool declareRegister(const ptx::Register &reg);
  bool declareVariable(const ptx::Variable &variable);
  bool declareParameters();
  bool decodeInstruction(const ptx::Instruction &ast);
  bool resolve(const ptx::Operand &operand, Operand &result, Type type,
               bool wider, bool isDestination, bool isElement = false);
  bool vectorOperand(Type type, unsigned count, bool wider, bool isDestination);
  bool resolveRegister(std::string_view name, RegisterInfo &info);
  bool resolveLabel(std::string_view name, uint32_t &target);
  bool resolveSymbol(std::string_view name, Symbol &symbol);
  bool useRegister(const ptx::Operand &operand, const RegisterInfo &info,
                   Operand &result, Type type, bool wider);
  bool resolveName(const ptx::Operand &operand, Operand &result, Type type);
  bool resolveSink(Type type, bool isElement);
  bool isSourceOf(std::initializer_list<std::string_view> opcodes) const;
  bool resolveAddress(const ptx::Operand &operand, Operand &result,
                      ptx::Space space);
  const uint32_t *constant(uint64_t bits, unsigned bytes);
  const Opcode *lookup(std::string_view name) const;

  const ptx::Module &module_;
  const ptx::Function &function_;
  const SymbolTable &symbols_;
  std::shared_ptr<Program> program_;
  std::vector<Scope> scopes_;
  std::map<std::pair<uint64_t, unsigned>, const uint32_t *> constants_;
  std::unordered_map<std::string_view, const Opcode *> opcodes_;
  const ptx::Instruction *ast_ = nullptr;
  Inst *inst_ = nullptr;
  /// Of the instruction in the body.
  size_t index_ = 0;
  size_t modifier_ = 0;
  size_t operand_ = 0;
  std::string error_;
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_DECODE_H
