//===- Parser.h - PTX text to a syntax tree ---------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_PARSER_H
#define ATTN_RUNTIME_EMULATOR_PARSER_H

#include "runtime/Status.h"
#include "runtime/emulator/Ptx.h"

namespace attn::runtime::emulator::ptx {

/// Syntax only: names are not resolved, opcodes not looked up. A message
/// starts with `ptx line N:`.
Expected<Module> parse(std::string_view text);

/// 90 of sm_90a.
unsigned architectureOf(std::string_view target);

} // namespace attn::runtime::emulator::ptx

#endif // ATTN_RUNTIME_EMULATOR_PARSER_H
