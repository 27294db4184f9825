//===- Program.h - A kernel, decoded ----------------------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the executor runs: one Inst for each PTX instruction, its operands
// resolved to slots of the register file, its semantics a function pointer.
//
// A register holds 32 lanes side by side: 32 words of 32 bits, or 64 words
// for a 64-bit register. Narrower values are zero-extended to 32 bits.
// Immediates are broadcast into the same shape, so that a source operand is
// always a pointer to lanes. A predicate is one word, one bit a lane.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_PROGRAM_H
#define ATTN_RUNTIME_EMULATOR_PROGRAM_H

#include "runtime/emulator/Ptx.h"
#include "runtime/emulator/Statistics.h"
#include "runtime/emulator/Types.h"

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace attn::runtime::emulator {

struct Context;
struct Inst;

/// What the executor does after an instruction.
enum class Step : uint8_t {
  Next,
  /// The fragment's pc was set.
  Jump,
  /// The fragment sleeps; whoever wakes it leaves it at the next instruction.
  Wait,
  /// The fragment sleeps and executes this instruction again when woken.
  Retry,
  /// The lanes of the mask ended.
  Exit,
  /// A message was left in the launch.
  Fault,
};

using Execute = Step (*)(Context &, const Inst &);

struct Operand {
  enum Kind : uint8_t { Sink, Register, Predicate, Constant, Address };

  Kind kind = Sink;
  bool negated = false;
  /// Which of the two the instruction does to a register; a wgmma does both to
  /// its accumulators.
  bool isRead = false, isWritten = false;
  /// Of an address: whether its base is 64 bits wide. Of a register: 4 or 8.
  uint8_t bytes = 0;
  /// Of a register, as its declaration says.
  uint8_t declaredBytes = 0;
  /// First word in the register file, or the predicate's index.
  uint32_t slot = 0;
  /// Lanes of an immediate; for an address, null if the base is a register.
  const uint32_t *constant = nullptr;
  int64_t offset = 0;
};

/// The fields that instructions fill as they need; see each family.
struct Inst {
  Execute execute = nullptr;
  std::vector<Operand> operands;
  int32_t guard = -1;
  bool guardNegated = false;
  InstClass cls = InstClass::Other;
  Type type = Type::None;
  Type type2 = Type::None;
  ptx::Space space = ptx::Space::None;
  /// Elements of a vector access, matrices of an ldmatrix.
  uint8_t count = 1;
  uint32_t flags = 0;
  int64_t immediate = 0;
  uint32_t line = 0;
  /// Branches: where to, and where the two sides meet (or noJoin).
  uint32_t target = 0;
  uint32_t join = 0;
  /// Registers of wgmmas that are live here: no allocator can use fewer.
  uint32_t liveRegisters = 0;
  /// Slots in Program::tracked that this instruction reads or writes.
  std::vector<uint16_t> tracked;
  std::vector<uint32_t> targets;
  std::shared_ptr<const void> extra;
  std::string_view text;
};

constexpr uint32_t noJoin = UINT32_MAX;

struct Parameter {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;
};

/// Where a special register sits in every register file; see Decode.cpp.
struct SpecialRegister {
  const char *name;
  uint32_t index;
};

struct Program {
  std::string name;
  std::shared_ptr<const std::string> text;
  std::vector<Inst> insts;
  std::deque<std::array<uint32_t, 64>> constants;
  size_t registerWords = 0;
  size_t predicates = 0;

  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedOffset = 0;
  uint32_t localBytes = 0;
  uint32_t maxThreads[3] = {0, 0, 0};
  uint32_t requiredThreads[3] = {0, 0, 0};
  uint32_t clusterSize[3] = {0, 0, 0};
  uint32_t minBlocksPerMultiprocessor = 0;
  uint32_t maxRegisters = 0;

  // Of a program that runs without checks; see Compact.h and Quick.h.
  bool isCompact = false;
  /// First word and words of what may be read before it is written.
  std::vector<std::pair<uint32_t, uint32_t>> readFirst;
  std::shared_ptr<const struct QuickProgram> quick;

  /// Registers that some wgmma touches, by first word.
  std::vector<uint32_t> tracked;
  /// By first word, for messages.
  std::vector<std::pair<uint32_t, std::string>> registerNames;
};

/// The first special registers of the file, 32 words each.
enum class Special : uint32_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  DynamicSmemSize,
  TotalSmemSize,
  Zero,
  One,
  Count,
};

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_PROGRAM_H
