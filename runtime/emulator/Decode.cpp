//===- Decode.cpp - From the syntax tree to a Program ---------------------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Decode.h"
#include "runtime/emulator/Flow.h"
#include "runtime/emulator/Parser.h"

#include <algorithm>
#include <cstring>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

namespace {

struct TypeEntry {
  const char *name;
  Type type;
};

constexpr TypeEntry typeTable[] = {
    {"b8", Type::B8},     {"u8", Type::U8},       {"s8", Type::S8},
    {"b16", Type::B16},   {"u16", Type::U16},     {"s16", Type::S16},
    {"f16", Type::F16},   {"bf16", Type::BF16},   {"b32", Type::B32},
    {"u32", Type::U32},   {"s32", Type::S32},     {"f32", Type::F32},
    {"tf32", Type::TF32}, {"f16x2", Type::F16x2}, {"bf16x2", Type::BF16x2},
    {"b64", Type::B64},   {"u64", Type::U64},     {"s64", Type::S64},
    {"f64", Type::F64},   {"b128", Type::B128},   {"pred", Type::Pred},
};

} // namespace

Type attn::runtime::emulator::parseType(std::string_view name) {
  for (const TypeEntry &entry : typeTable)
    if (name == entry.name)
      return entry.type;
  return Type::None;
}

const char *attn::runtime::emulator::typeName(Type type) {
  for (const TypeEntry &entry : typeTable)
    if (type == entry.type)
      return entry.name;
  return "none";
}

Decoder::Decoder(const ptx::Module &module, const ptx::Function &function,
                 const SymbolTable &symbols)
    : module_(module), function_(function), symbols_(symbols),
      program_(std::make_shared<Program>()), scopes_(function.scopes.size()) {
  for (OpcodeTable table :
       {integerOpcodes(), floatOpcodes(), moveOpcodes(), convertOpcodes(),
        controlOpcodes(), loadStoreOpcodes(), atomicOpcodes(), warpOpcodes(),
        barrierOpcodes(), asyncCopyOpcodes(), matrixOpcodes(), wgmmaOpcodes()})
    for (size_t i = 0; i < table.size; ++i)
      opcodes_.emplace(table.begin[i].name, &table.begin[i]);
}

bool Decoder::fail(const std::string &message) {
  if (!error_.empty())
    return false;
  error_ = "ptx line " + std::to_string(ast_ ? ast_->line : function_.line) +
           ": " + message;
  return false;
}

// Modifiers.

std::string_view Decoder::peek() const {
  return atEnd() ? std::string_view() : ast_->modifiers[modifier_];
}

std::string_view Decoder::nextModifier() {
  std::string_view result = peek();
  modifier_ += !atEnd();
  return result;
}

bool Decoder::take(std::string_view modifier) {
  if (atEnd() || ast_->modifiers[modifier_] != modifier)
    return false;
  ++modifier_;
  return true;
}

int Decoder::takeOneOf(std::initializer_list<std::string_view> modifiers) {
  int index = 0;
  for (std::string_view modifier : modifiers) {
    if (take(modifier))
      return index;
    ++index;
  }
  return -1;
}

bool Decoder::need(std::string_view modifier) {
  if (take(modifier))
    return true;
  return fail("expected '." + std::string(modifier) + "' in " +
              quote(ast_->opcode) + ", but got " +
              (atEnd() ? "no modifier" : quote(peek())));
}

bool Decoder::takeType(Type &type) {
  Type parsed = atEnd() ? Type::None : parseType(peek());
  if (parsed == Type::None)
    return false;
  type = parsed;
  ++modifier_;
  return true;
}

bool Decoder::needType(Type &type, std::initializer_list<Type> allowed) {
  std::string_view name = peek();
  if (!takeType(type))
    return fail(
        "expected a type in " + quote(ast_->opcode) + ", but got " +
        (name.empty() ? "no modifier" : "'." + std::string(name) + "'"));
  if (allowed.size() == 0 ||
      std::find(allowed.begin(), allowed.end(), type) != allowed.end())
    return true;
  return fail("unsupported type '." + std::string(name) + "' of " +
              quote(ast_->opcode));
}

bool Decoder::needTarget(unsigned sm) {
  return ptx::architectureOf(module_.target) >= sm ||
         fail(quote(ast_->opcode) + " needs target sm_" + std::to_string(sm) +
              " or later, but the module is for " + quote(module_.target));
}

bool Decoder::needArchitecture(std::string_view architecture) {
  return module_.target == architecture ||
         fail(quote(ast_->opcode) + " needs target " + quote(architecture) +
              ", but the module is for " + quote(module_.target));
}

bool Decoder::finish() {
  if (!error_.empty())
    return false;
  if (!atEnd())
    return fail("unknown modifier '." + std::string(peek()) + "' of " +
                quote(ast_->opcode));
  if (operand_ != ast_->operands.size())
    return fail("expected " + std::to_string(operand_) + " operands of " +
                quote(ast_->opcode) + ", but got " +
                std::to_string(ast_->operands.size()));
  return true;
}

// Operands.

size_t Decoder::remaining() const { return ast_->operands.size() - operand_; }

const ptx::Operand *Decoder::peekOperand() const {
  return remaining() ? &ast_->operands[operand_] : nullptr;
}

bool Decoder::decodeInstruction(const ptx::Instruction &ast) {
  ast_ = &ast;
  modifier_ = operand_ = 0;
  inst_ = &program_->insts.emplace_back();
  inst_->line = ast.line;
  inst_->text = ast.text;
  if (!ast.guard.empty()) {
    RegisterInfo info;
    if (!resolveRegister(ast.guard, info) || info.type != Type::Pred)
      return fail("expected a predicate, but got " + quote(ast.guard));
    inst_->guard = static_cast<int32_t>(info.slot);
    inst_->guardNegated = ast.guardNegated;
  }
  auto it = opcodes_.find(ast.opcode);
  if (it == opcodes_.end())
    return fail("unknown instruction " + quote(ast.opcode));
  inst_->cls = it->second->cls;
  return it->second->decode(*this, *inst_) && finish();
}

Expected<std::shared_ptr<Program>>
attn::runtime::emulator::decode(const ptx::Module &module,
                                const ptx::Function &function,
                                const SymbolTable &symbols) {
  Decoder decoder(module, function, symbols);
  bool good = decoder.declare();
  for (size_t &i = decoder.index_; good && i < function.body.size(); ++i)
    good = decoder.decodeInstruction(function.body[i]);
  if (!good)
    return Status::invalidArgument(decoder.error());
  // Falling off the end is a return.
  Inst end;
  end.execute = [](Context &, const Inst &) { return Step::Exit; };
  end.line = function.body.empty() ? function.line : function.body.back().line;
  end.text = "end of the kernel";
  decoder.program_->insts.push_back(std::move(end));
  analyzeFlow(*decoder.program_);
  return decoder.program_;
}
