//===- Check.h - The checks that instructions share -------------*- C++ -*-===//
//
// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_EMULATOR_CHECK_H
#define ATTN_RUNTIME_EMULATOR_CHECK_H

#include "runtime/emulator/Machine.h"

namespace attn::runtime::emulator {

/// Strong accesses (volatile, relaxed, acquire, release) and atomics may meet
/// without a race.
enum class AccessKind : uint8_t {
  Read,
  Write,
  StrongRead,
  StrongWrite,
  Atomic
};

inline bool reads(AccessKind kind) {
  return kind == AccessKind::Read || kind == AccessKind::StrongRead ||
         kind == AccessKind::Atomic;
}
inline bool writes(AccessKind kind) {
  return kind == AccessKind::Write || kind == AccessKind::StrongWrite ||
         kind == AccessKind::Atomic;
}
inline bool isStrong(AccessKind kind) { return kind >= AccessKind::StrongRead; }

/// Before each instruction: registers in flight and the register budget.
/// False after a fault.
bool checkRegisters(Context &context, const Inst &inst);

/// Before the last lanes of a warp end: nothing of theirs may be under way.
/// False after a fault.
bool checkExit(Context &context, const Inst &inst);

/// What must not be left over when a block ends; empty if all is well.
std::string checkBlockEnd(const Block &block);

/// The host's bytes behind one lane's access, or null after a fault. Checks
/// bounds and alignment always; never-written bytes and races with checks on.
uint8_t *accessLane(Context &context, const Inst &inst, ptx::Space space,
                    uint64_t address, uint32_t bytes, uint32_t lane,
                    AccessKind kind);

/// Space and offset of a generic address.
ptx::Space genericSpace(uint64_t address, uint64_t &offset);

/// An access by an agent other than the warp itself, or by the warp as a
/// whole, to `bytes` bytes of shared memory at `address`, in bounds. False
/// after a fault.
struct SharedAccess {
  uint16_t agent;
  uint32_t epoch;
  uint8_t flags;
  const Knowledge *known;
  /// For messages: "wgmma", "copy".
  const char *what;
  uint8_t lane = Access::wholeWarp;
  /// What is known of other blocks; null for what the warp knows now.
  const BlockKnowledge *foreign = nullptr;
};

class SharedChecker {
public:
  SharedChecker(Context &context, const Inst &inst, const SharedAccess &access);
  bool apply(uint64_t address, uint64_t bytes);
  /// Of a cp.async: which lane of the warp comes next.
  void setLane(uint32_t lane) { race_.setLane(static_cast<uint8_t>(lane)); }
  /// Another lane wrote there in the same instruction.
  bool overlapsOwn() const { return race_.overlapsOwn; }

private:
  Context &context_;
  const Inst &inst_;
  SharedAccess access_;
  RaceAccess race_;
};

/// The same for global memory.
class GlobalChecker {
public:
  GlobalChecker(Context &context, const Inst &inst, const SharedAccess &access);
  bool apply(Allocation &allocation, uint64_t address, uint64_t bytes);
  void setLane(uint32_t lane) { race_.setLane(static_cast<uint8_t>(lane)); }

private:
  Context &context_;
  const Inst &inst_;
  SharedAccess access_;
  RaceAccess race_;
};

/// Bounds of a shared range; false after a fault.
bool sharedInBounds(Context &context, const Inst &inst, int lane,
                    uint64_t address, uint64_t bytes, const char *what);

/// The allocation that holds all the bytes; null after a fault.
Allocation *globalInBounds(Context &context, const Inst &inst, uint32_t lane,
                           uint64_t address, uint32_t bytes, const char *what);

} // namespace attn::runtime::emulator

#endif // ATTN_RUNTIME_EMULATOR_CHECK_H
