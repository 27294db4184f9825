//===- Declare.cpp - Registers, variables and parameters of a kernel ------===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/emulator/Decode.h"
#include "runtime/emulator/Layout.h"

#include <algorithm>

using namespace attn::runtime;
using namespace attn::runtime::emulator;

static uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool Decoder::declareRegister(const ptx::Register &reg) {
  Type type = parseType(reg.type);
  if (type == Type::None || type == Type::B128 || isFloat(type) != 0)
    if (type != Type::F32 && type != Type::F64)
      return fail("ptx line " + std::to_string(reg.line) +
                  ": unsupported register type '." + std::string(reg.type) +
                  "'");
  uint64_t count = reg.count ? reg.count : 1;
  RegisterInfo info{type, 0, reg.count};
  if (type == Type::Pred) {
    info.slot = static_cast<uint32_t>(program_->predicates);
    program_->predicates += count;
  } else {
    info.slot = static_cast<uint32_t>(program_->registerWords);
    program_->registerWords += count * (typeBytes(type) == 8 ? 64 : 32);
    program_->registerNames.push_back({info.slot, std::string(reg.name)});
  }
  if (program_->registerWords > (uint64_t(1) << 25) ||
      program_->predicates > (1 << 20))
    return fail("too many registers");
  if (!scopes_[reg.scope].registers.emplace(reg.name, info).second)
    return fail("register " + quote(reg.name) + " is declared twice");
  return true;
}

bool Decoder::declareVariable(const ptx::Variable &variable) {
  Symbol symbol;
  symbol.space = variable.space;
  uint64_t end = 0;
  if (variable.space == ptx::Space::Shared && variable.isExtern)
    return fail("extern variable " + quote(variable.name) +
                " inside a function");
  uint32_t &used = variable.space == ptx::Space::Shared
                       ? program_->staticSharedBytes
                       : program_->localBytes;
  symbol.address = alignUp(used, variable.alignment);
  end = symbol.address + variable.bytes;
  if (end > (1 << 24))
    return fail("variable " + quote(variable.name) + " is too large");
  used = static_cast<uint32_t>(end);
  if (!scopes_[variable.scope].variables.emplace(variable.name, symbol).second)
    return fail("variable " + quote(variable.name) + " is declared twice");
  return true;
}

bool Decoder::declareParameters() {
  uint64_t offset = 0;
  for (const ptx::Variable &variable : function_.parameters) {
    offset = alignUp(offset, std::max(1u, variable.alignment));
    Symbol symbol{ptx::Space::Param, offset};
    program_->parameters.push_back({std::string(variable.name),
                                    static_cast<uint32_t>(offset),
                                    static_cast<uint32_t>(variable.bytes)});
    if (!scopes_[0].variables.emplace(variable.name, symbol).second ||
        scopes_[0].registers.count(variable.name))
      return fail("parameter " + quote(variable.name) + " is declared twice");
    offset += variable.bytes;
  }
  // The hardware's limit.
  if (offset > 32764)
    return fail("kernel " + quote(function_.name) +
                " has more than 32764 bytes of parameters");
  program_->parameterBytes = static_cast<uint32_t>(offset);
  return true;
}

/// Module-level shared variables come first, then the function's own, then
/// the dynamic part, where every extern variable begins.
bool Decoder::declare() {
  program_->name = function_.name;
  program_->text = module_.text;
  program_->registerWords = size_t(Special::Count) * 32;
  program_->staticSharedBytes = sharedReservedBytes;
  uint32_t dynamicAlignment = 16;
  for (const ptx::Variable &variable : module_.variables) {
    if (variable.space != ptx::Space::Shared)
      continue;
    if (variable.isExtern)
      dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
    else if (!declareVariable(variable))
      return false;
  }
  for (const ptx::Register &reg : function_.registers)
    if (!declareRegister(reg))
      return false;
  for (const ptx::Variable &variable : function_.variables)
    if (!declareVariable(variable))
      return false;
  program_->dynamicSharedOffset = static_cast<uint32_t>(
      alignUp(program_->staticSharedBytes, dynamicAlignment));
  for (const ptx::Variable &variable : module_.variables)
    if (variable.space == ptx::Space::Shared && variable.isExtern)
      scopes_[0].variables.emplace(
          variable.name,
          Symbol{ptx::Space::Shared, program_->dynamicSharedOffset});
  for (const ptx::Label &label : function_.labels)
    if (!scopes_[label.scope].labels.emplace(label.name, label.target).second ||
        scopes_[label.scope].registers.count(label.name) ||
        scopes_[label.scope].variables.count(label.name))
      return fail("ptx line " + std::to_string(label.line) + ": label " +
                  quote(label.name) + " is defined twice");
  for (const ptx::BranchTargets &targets : function_.branchTargets)
    scopes_[targets.scope].targets.emplace(targets.name, &targets);
  std::copy(std::begin(function_.maxThreads), std::end(function_.maxThreads),
            program_->maxThreads);
  std::copy(std::begin(function_.requiredThreads),
            std::end(function_.requiredThreads), program_->requiredThreads);
  std::copy(std::begin(function_.clusterSize), std::end(function_.clusterSize),
            program_->clusterSize);
  program_->minBlocksPerMultiprocessor = function_.minBlocksPerMultiprocessor;
  program_->maxRegisters = function_.maxRegisters;
  return declareParameters();
}
