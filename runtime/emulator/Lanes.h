//===- Lanes.h - One operation over 32 lanes --------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every lane is computed, also those that are off: a loop without branches
// vectorises. Only the store looks at the mask.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_LANES_H
#define ATTN_RUNTIME_EMULATOR_LANES_H

#include "runtime/emulator/Check.h"
#include "runtime/emulator/Decode.h"
#include "runtime/emulator/Machine.h"

#include <cstring>

/// Compiles a hot loop for newer vector units too and picks at load time.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define ATTN_MULTIVERSION                                                      \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ATTN_MULTIVERSION
#endif

namespace attn::runtime::emulator {

template <typename To, typename From>
inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <typename T>
inline T laneGet(const uint32_t *lanes, unsigned lane) {
  if constexpr (sizeof(T) == 8)
    return bitCast<T>(reinterpret_cast<const uint64_t *>(lanes)[lane]);
  else if constexpr (sizeof(T) == 4)
    return bitCast<T>(lanes[lane]);
  else if constexpr (sizeof(T) == 2)
    return bitCast<T>(static_cast<uint16_t>(lanes[lane]));
  else
    return bitCast<T>(static_cast<uint8_t>(lanes[lane]));
}

template <typename T>
inline void laneSet(uint32_t *lanes, unsigned lane, T value) {
  if constexpr (sizeof(T) == 8)
    reinterpret_cast<uint64_t *>(lanes)[lane] = bitCast<uint64_t>(value);
  else if constexpr (sizeof(T) == 4)
    lanes[lane] = bitCast<uint32_t>(value);
  else if constexpr (sizeof(T) == 2)
    lanes[lane] = bitCast<uint16_t>(value);
  else
    lanes[lane] = bitCast<uint8_t>(value);
}

/// Stores the lanes that are on.
template <typename T>
inline void storeLanes(Context &context, const Operand &operand,
                       const T (&values)[warpLanes]) {
  if (operand.kind != Operand::Register)
    return;
  uint32_t *target = context.destination(operand);
  if (context.allLanes()) {
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      laneSet<T>(target, lane, values[lane]);
    return;
  }
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    if (context.mask >> lane & 1)
      laneSet<T>(target, lane, values[lane]);
}

/// A source of 32 or 64 bits, an address, and one in shared memory, which may
/// be generic where its register has 64 bits.
inline uint64_t laneValue(const Context &context, const Operand &operand,
                          unsigned lane) {
  return operand.bytes == 8 ? context.source64(operand)[lane]
                            : uint64_t(context.source(operand)[lane]);
}
inline uint64_t laneAddress(const Context &context, const Operand &operand,
                            unsigned lane) {
  uint64_t address =
      laneValue(context, operand, lane) + static_cast<uint64_t>(operand.offset);
  return operand.bytes == 8 ? address : address & UINT32_MAX;
}
inline uint64_t laneShared(const Context &context, const Operand &operand,
                           unsigned lane) {
  uint64_t address = laneAddress(context, operand, lane), offset = 0;
  return genericSpace(address, offset) == ptx::Space::Shared ? offset : address;
}

/// d = Op(a), Op(a, b) or Op(a, b, c) in the type T.
template <typename T, typename Op>
Step unaryOp(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  T result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = Op::apply(laneGet<T>(a, lane));
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

template <typename T, typename Op>
Step binaryOp(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  T result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = Op::apply(laneGet<T>(a, lane), laneGet<T>(b, lane));
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

template <typename T, typename Op>
Step ternaryOp(Context &context, const Inst &inst) {
  const uint32_t *a = context.source(inst.operands[1]);
  const uint32_t *b = context.source(inst.operands[2]);
  const uint32_t *c = context.source(inst.operands[3]);
  T result[warpLanes];
  for (unsigned lane = 0; lane < warpLanes; ++lane)
    result[lane] = Op::apply(laneGet<T>(a, lane), laneGet<T>(b, lane),
                             laneGet<T>(c, lane));
  storeLanes(context, inst.operands[0], result);
  return Step::Next;
}

/// The integer instantiation for a type; signedness matters to Op.
template <typename Op>
Execute integerBinary(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return binaryOp<uint16_t, Op>;
  case Type::S16:
    return binaryOp<int16_t, Op>;
  case Type::B32:
  case Type::U32:
    return binaryOp<uint32_t, Op>;
  case Type::S32:
    return binaryOp<int32_t, Op>;
  case Type::B64:
  case Type::U64:
    return binaryOp<uint64_t, Op>;
  case Type::S64:
    return binaryOp<int64_t, Op>;
  default:
    return nullptr;
  }
}

template <typename Op>
Execute integerUnary(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return unaryOp<uint16_t, Op>;
  case Type::S16:
    return unaryOp<int16_t, Op>;
  case Type::B32:
  case Type::U32:
    return unaryOp<uint32_t, Op>;
  case Type::S32:
    return unaryOp<int32_t, Op>;
  case Type::B64:
  case Type::U64:
    return unaryOp<uint64_t, Op>;
  case Type::S64:
    return unaryOp<int64_t, Op>;
  default:
    return nullptr;
  }
}

/// Sets the handler; a type without one is an error.
inline bool setExecute(Decoder &decoder, Inst &inst, Execute execute) {
  if (!execute)
    return decoder.fail("unsupported type '." +
                        std::string(typeName(inst.type)) + "' of '" +
                        std::string(decoder.ast().opcode) + "'");
  inst.execute = execute;
  return true;
}

template <size_t N>
OpcodeTable makeTable(const Opcode (&table)[N]) {
  return {table, N};
}

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_LANES_H
