//===- Types.h - PTX operand types ------------------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_TYPES_H
#define ATTN_RUNTIME_EMULATOR_TYPES_H

#include <cstdint>
#include <string_view>

namespace attn::runtime::emulator {

enum class Type : uint8_t {
  None,
  B8,
  U8,
  S8,
  B16,
  U16,
  S16,
  F16,
  BF16,
  B32,
  U32,
  S32,
  F32,
  TF32,
  F16x2,
  BF16x2,
  B64,
  U64,
  S64,
  F64,
  B128,
  Pred,
};

/// The type that a modifier or declaration names; None if it is not one.
Type parseType(std::string_view name);
const char *typeName(Type type);

inline unsigned typeBytes(Type type) {
  switch (type) {
  case Type::None:
  case Type::Pred:
    return 0;
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::B32:
  case Type::U32:
  case Type::S32:
  case Type::F32:
  case Type::TF32:
  case Type::F16x2:
  case Type::BF16x2:
    return 4;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 8;
  case Type::B128:
    return 16;
  }
  return 0;
}

inline bool isSigned(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 ||
         type == Type::S64;
}

inline bool isBits(Type type) {
  return type == Type::B8 || type == Type::B16 || type == Type::B32 ||
         type == Type::B64 || type == Type::B128;
}

inline bool isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
         type == Type::TF32 || type == Type::F16x2 || type == Type::BF16x2 ||
         type == Type::F64;
}

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_TYPES_H
